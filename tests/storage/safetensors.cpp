// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <tlm/algebra/parameters.hpp>
#include <tlm/models/transformer_lm.hpp>
#include <tlm/training/initialization.hpp>

#include "../support.hpp"
#include "storage.hpp"

namespace tlm::tests::in_safetensors {

namespace {

template <std::size_t d_ff, std::size_t n_heads = 2, class Real = float>
using Small =
    TransformerLM<Config{.vocab_size = 5, .d_model = 4, .d_ff = d_ff, .n_layers = 2, .n_heads = n_heads, .max_len = 7},
                  Real>;
using Model = Small<6>;

template <class T = Model>
T random_model(std::uint64_t seed = 1) {
  Generator generator{seed};
  T model;
  initialize_uniform(model, generator);
  return model;
}

}  // namespace

TEST_CASE_TEMPLATE("weights come back bit for bit, NaN and infinities too, by their paths", Real, float, double) {
  using T = Small<6, 2, Real>;
  const Directory directory;
  T model = random_model<T>();
  auto& A = weight<"DB_1.FF.A">(model);
  A(0, 0) = std::numeric_limits<Real>::quiet_NaN();
  A(0, 1) = -std::numeric_limits<Real>::infinity();
  A(0, 2) = -Real(0);
  A(0, 3) = std::numeric_limits<Real>::denorm_min();
  storage::save_weights("file", model, {{"n_heads", "2"}});
  T other = random_model<T>(2);
  CHECK_FALSE(same_bits(model, other));
  storage::load_weights("file", other, {{"n_heads", "2"}});
  CHECK(same_bits(model, other));

  const storage::SafetensorsFile file{"file"};
  CHECK(file.tensors().size() == detail::weight_list<T>.size());
  CHECK(file.tensors().contains("DB_2.FF.A"));
  CHECK(file.tensors().at("DB_1.FF.A").shape == std::vector<std::uint64_t>{4, 6});
  CHECK(file.tensors().at("DB_1.FF.A").type == (sizeof(Real) == 4 ? "F32" : "F64"));
}

TEST_CASE("a model that was kept by an earlier version is loaded, and written again to the byte") {
  // Saved at b6d0542, with the initial values of this seed, which are the same on any machine.
  using Kept =
      TransformerLM<Config{.vocab_size = 5, .d_model = 8, .d_ff = 16, .n_layers = 2, .n_heads = 2, .max_len = 6}>;
  Kept loaded, of_others, initialized;
  storage::load_weights(KEPT, loaded);
  Generator generator{1};
  initialize_uniform(initialized, generator);
  CHECK(same_bits(loaded, initialized));
  storage::load_weights(KEPT "_by_others", of_others);  // in another order, at other places
  CHECK(same_bits(of_others, initialized));

  const Directory directory;
  storage::save_weights("model", loaded);
  const auto after_version = [](const std::string& bytes) { return bytes.substr(bytes.find('}')); };
  CHECK(after_version(contents_of("model")) == after_version(contents_of(KEPT)));
}

TEST_CASE("a file is laid out as the format wants it: to the byte") {
  const Directory directory;
  const std::array<std::uint8_t, 3> text{'a', 'b', 'c'};
  const std::array<double, 2> x{1, -2};
  const float y = 0.5f;
  const std::int64_t z = -1;
  std::vector<storage::Tensor> list;
  storage::add_numbers(list, "text", std::span{text}, {3});
  storage::add_number(list, "y", y);
  storage::add_numbers(list, "x", std::span{x}, {1, 2});
  storage::add_number(list, "z", z);
  storage::add_numbers(list, "none", std::span<const float>{}, {0, 4});
  storage::write("file", list, {{"über", "\"\n"}});
  // Wider numbers first, and a header of whole eights: all numbers are aligned.
  std::string header =
      R"({"__metadata__":{"format":"tlm","tlm_version":"0.1.0","über":"\"\n"},)"
      R"("x":{"dtype":"F64","shape":[1,2],"data_offsets":[0,16]},"z":{"dtype":"I64","shape":[],"data_offsets":[16,24]},)"
      R"("y":{"dtype":"F32","shape":[],"data_offsets":[24,28]},"none":{"dtype":"F32","shape":[0,4],"data_offsets":[28,28]},)"
      R"("text":{"dtype":"U8","shape":[3],"data_offsets":[28,31]}})";
  while (header.size() % 8 != 0) header += ' ';
  const std::string numbers{
      "\0\0\0\0\0\0\xF0\x3F\0\0\0\0\0\0\0\xC0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\x3F"
      "abc",
      31};
  CHECK(contents_of("file") == eight_bytes(header.size()) + header + numbers);

  std::array<std::uint8_t, 3> text_again{};
  std::int64_t z_again = 0;
  std::vector<storage::Place> places;
  storage::add_number(places, "z", z_again);
  storage::add_numbers(places, "text", std::span{text_again}, {3});
  const storage::SafetensorsFile file{"file"};
  file.read(places);
  CHECK(z_again == -1);
  CHECK(text_again == text);
  CHECK(file.metadata() == storage::Metadata{{"format", "tlm"}, {"tlm_version", "0.1.0"}, {"über", "\"\n"}});
  CHECK(refusal([&] { file.require_nothing_but(places); }) ==
        "file is refused: what it is read into has no \"none\", F32 [0,4]");
}

TEST_CASE("an empty file of tensors") {
  const Directory directory;
  storage::write("file", {});
  const storage::SafetensorsFile file{"file"};
  CHECK(file.tensors().empty());
  file.read({});
  file.require_nothing_but({});
}

TEST_CASE("what does not fit a model is refused by the weight's name, and the model is as it was") {
  const Directory directory;
  const auto why_refused = []<class T>(T model, const storage::Metadata& configuration = {}) {
    const T before = model;
    const std::string sentence = refusal([&] { storage::load_weights("file", model, configuration); });
    CHECK(same_bits(before, model));
    return sentence;
  };
  storage::save_weights("file", random_model(), {{"n_heads", "2"}});

  // Four heads of width 1 have the weights of two of width 2: they only mean something else.
  CHECK(why_refused(random_model<Small<6, 4>>(), {{"n_heads", "4"}}) ==
        "file is refused: its \"n_heads\" is \"2\", and should be \"4\"");
  CHECK(why_refused(random_model(), {{"block", "definition"}}) == "file is refused: it does not say its \"block\"");
  // The first weight that does not fit comes after weights that do.
  CHECK(why_refused(random_model<Small<8>>()) ==
        "file is refused: \"DB_1.FF.A\" is F32 [4,6], and should be F32 [4,8]");
  CHECK(why_refused(random_model<Small<6, 2, double>>()) ==
        "file is refused: \"Em.W_e\" is F32 [5,4], and should be F64 [5,4]");

  const auto rewritten = [&](const auto& change) {
    const auto model = random_model();
    std::vector<storage::Tensor> list;
    storage::add_weights(list, model);
    change(list);
    storage::write("file", list);
    return why_refused(random_model(2));
  };
  using List = std::vector<storage::Tensor>;
  const auto A = [](List& list) {
    return std::find_if(list.begin(), list.end(), [](const auto& tensor) { return tensor.name == "DB_1.FF.A"; });
  };
  CHECK(rewritten([&](List& list) { list.erase(A(list)); }) == "file is refused: there is no \"DB_1.FF.A\", F32 [4,6]");
  CHECK(rewritten([&](List& list) {
          std::erase_if(list, [](const auto& tensor) { return tensor.name.starts_with("DB_2.FF"); });
        }) == "file is refused: there is no \"DB_2.FF.N_ff.a\", F32 [1,4]");
  CHECK(rewritten([&](List& list) { A(list)->name = "DB_1.FF.Z"; }) ==
        "file is refused: what it is read into has no \"DB_1.FF.Z\", F32 [4,6]");
  CHECK(rewritten([&](List& list) {
          A(list)->shape = {6, 4};
        }) == "file is refused: \"DB_1.FF.A\" is F32 [6,4], and should be F32 [4,6]");
}

TEST_CASE("what a newer version has written is refused where that matters") {
  const Directory directory;
  const auto why_refused = [](const std::string& metadata) {
    put("file", file_of(R"({"__metadata__":)" + metadata + "}"));
    return refusal([] { storage::SafetensorsFile{"file"}.require_no_newer_version(); });
  };
  const auto version = [](const std::string& text) { return R"({"tlm_version":")" + text + R"("})"; };
  for (const char* old : {"0.0.9", "0.1.0"}) CHECK(why_refused(version(old)) == "");
  for (const std::string newer : {"0.1.1", "0.2.0", "1.0.0"})
    CHECK(why_refused(version(newer)) ==
          "file is refused: tlm " + newer + " has written it, which is newer than this one, 0.1.0");
  for (const std::string none : {"", "0.1", "0.1.x", "0.1..", "v.1.0", "1,0.0", "0.100", "00001", ".1.00", "0.1.0x",
                                 "0.1.0.0", " 0.1.0", "-1.0.0", "18446744073709551616.0.0"})
    CHECK(why_refused(version(none)) == "file is refused: its \"tlm_version\" is \"" + none + "\", which is none");
  CHECK(why_refused("{}") == "file is refused: it does not say its \"tlm_version\"");
}

TEST_CASE("what a file cannot hold is not written, and what was there stays") {
  const Directory directory;
  put("file", "before");
  const std::array<float, 2> x{};
  const auto why = [&](const std::vector<std::string>& names, const storage::Metadata& metadata = {}) {
    std::vector<storage::Tensor> list;
    for (const std::string& name : names) storage::add_numbers(list, name, std::span{x}, {2});
    const std::string sentence = refusal([&] { storage::write("file", list, metadata); });
    CHECK(contents_of("file") == "before");
    return sentence;
  };
  CHECK(why({"A", "B", "A"}) == "file is refused: \"A\" is there twice");
  CHECK(why({"__metadata__"}) == "file is refused: \"__metadata__\" is there twice");
  CHECK(why({"A\xFF"}) == "\"A\\xFF\" is not UTF-8, and is not stored");
  CHECK(why({}, {{"format", "2"}}).starts_with("\"format\" is \"tlm\", and cannot be \"2\" too: "));
  CHECK(why({}, {{"key", "\xC0"}}) == "\"\\xC0\" is not UTF-8, and is not stored");
  std::vector<storage::Tensor> list;
  CHECK(refusal([&] { storage::add_numbers(list, "A", std::span{x}, {3}); }) == "2 numbers do not fill the shape of A");
  CHECK(list.empty());
  storage::add_numbers(list, "A", std::span{x}, {2});
  list[0].type = "F31";
  CHECK(refusal([&] { storage::write("file", list); }) ==
        "\"A\" is of the type \"F31\", which is not known: it is not stored");
  CHECK(contents_of("file") == "before");
}

TEST_CASE("a tensor of a type that is not known is no reason to refuse the others") {
  const Directory directory;
  put("file", file_of(R"({"W":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                      R"("q":{"dtype":"F3\u0007","shape":[2],"data_offsets":[8,10]}})") +
                  std::string("\0\0\x80?\0\0\0@\0\0", 10));
  const storage::SafetensorsFile file{"file"};
  std::array<float, 2> x{};
  std::vector<storage::Place> places;
  storage::add_numbers(places, "W", std::span{x}, {2});
  file.read(places);
  CHECK(x == std::array<float, 2>{1, 2});
  const std::string described = R"("F3\x07" [2])";
  CHECK(refusal([&] { file.require_nothing_but(places); }) ==
        "file is refused: what it is read into has no \"q\", " + described);
  places.front().name = "q";
  CHECK(refusal([&] { file.read(places); }) == "file is refused: \"q\" is " + described + ", and should be F32 [2]");
}

TEST_CASE("a file that becomes shorter while it is read changes nothing") {
  const Directory directory;
  std::array<float, 4> x{1, 2, 3, 4};
  std::vector<storage::Tensor> list;
  storage::add_numbers(list, "x", std::span{x}.first(2), {2});
  storage::add_numbers(list, "y", std::span{x}.last(2), {2});
  storage::write("file", list);
  const storage::SafetensorsFile file{"file"};
  std::filesystem::resize_file("file", std::filesystem::file_size("file") - 4);
  x = {5, 6, 7, 8};
  std::vector<storage::Place> places;
  storage::add_numbers(places, "x", std::span{x}.first(2), {2});
  storage::add_numbers(places, "y", std::span{x}.last(2), {2});
  CHECK(refusal([&] { file.read(places); }) == "file has become shorter while it was read");
  CHECK(x == std::array<float, 4>{5, 6, 7, 8});
}

}  // namespace tlm::tests::in_safetensors
