// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "storage.hpp"

// Every allocation of this program is counted.
namespace {
std::atomic<std::size_t> allocated{0};
}
void* operator new(std::size_t size) {
  allocated += size;
  if (void* storage = std::malloc(size)) return storage;
  throw std::bad_alloc{};
}
void* operator new(std::size_t size,
                   const std::nothrow_t&) noexcept {  // which std::stable_sort asks for, in another file
  allocated += size;
  return std::malloc(size);
}
void operator delete(void* storage) noexcept { std::free(storage); }
void operator delete(void* storage, std::size_t) noexcept { std::free(storage); }

using namespace tlm;
using namespace tlm::tests;

namespace {

const Directory directory;

/// Why a file of these bytes is refused; empty if it is not.
std::string why_refused(const std::string& bytes) {
  const auto path = directory / "file";
  put(path, bytes);
  const std::string sentence = refusal([&] { storage::SafetensorsFile{path}; });
  const std::string beginning = path.string() + " is refused: ";
  if (!sentence.empty()) REQUIRE(sentence.substr(0, beginning.size()) == beginning);
  return sentence.empty() ? sentence : sentence.substr(beginning.size());
}

/// The header with one tensor A of two F32.
std::string with(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"A":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}
std::string two(const std::string& a, const std::string& b) {
  return R"({"A":{"dtype":"U8","shape":[4],"data_offsets":)" + a +
         R"(},"B":{"dtype":"U8","shape":[4],"data_offsets":)" + b + "}}";
}

const std::string good = with(R"("F32")", "[2,1]", "[0,8]");

struct Case {
  std::string bytes, sentence;
};

const std::string whole = ", not a whole one from 0 to 18446744073709551615";
const std::string cut_off = "it is cut off, or no safetensors file: ";
const std::string not_json = "its header is not JSON in UTF-8, from byte ";

const std::vector<Case> cases{
    // The length of the header.
    {"", cut_off + "it has 0 bytes, and a header begins after 8"},
    {"\x02", cut_off + "it has 1 bytes, and a header begins after 8"},
    {std::string(7, '\0'), cut_off + "it has 7 bytes, and a header begins after 8"},
    {eight_bytes(0), "it is no safetensors file: its header does not begin with {"},
    {eight_bytes(3) + "{}", cut_off + "its header has 3 bytes, and the file another 2"},
    {eight_bytes(100'000'000) + "{}", cut_off + "its header has 100000000 bytes, and the file another 2"},
    {eight_bytes(100'000'001) + "{}",
     "it is no safetensors file: its first 8 bytes say that its header has 100000001 bytes, more than 100000000"},
    {eight_bytes(~std::uint64_t(0) - 7) + "{}",
     "it is no safetensors file: its first 8 bytes say that its header has 18446744073709551608 bytes, more than "
     "100000000"},
    // What is not one JSON object.
    {file_of(" {}"), "it is no safetensors file: its header does not begin with {"},
    {file_of("\xEF\xBB\xBF{}"), "it is no safetensors file: its header does not begin with {"},
    {file_of("{"), "its header does not end with } and spaces"},
    {file_of("{}\n"), "its header does not end with } and spaces"},
    {file_of(std::string("{}\0", 3)), "its header does not end with } and spaces"},
    {file_of(std::string("{}\0{}", 5)), "its header has a byte 0"},
    {file_of("{}{}"), not_json + "3 of it on"},
    {file_of("{,}"), not_json + "2 of it on"},
    {file_of("{/**/}"), not_json + "2 of it on"},
    {file_of("{\"A\xFF\":{}}"), not_json + "4 of it on"},
    // Entries that are none.
    {file_of(R"({"A":null})"), "\"A\" is null and not an object"},
    {file_of(R"({"A":true})"), "\"A\" is true and not an object"},
    {file_of(R"({"A":1})"), "\"A\" is 1 and not an object"},
    {file_of(R"({"A":-1.5})"), "\"A\" is -1.5 and not an object"},
    {file_of(R"({"A":"F32"})"), "\"A\" is \"F32\" and not an object"},
    {file_of(R"({"A":[]})"), "\"A\" is an array and not an object"},
    {file_of(R"({"A":{}})"), "\"A\" has no \"dtype\""},
    {file_of(R"({"A":{"dtype":"F32","data_offsets":[0,0]}})"), "\"A\" has no \"shape\""},
    {file_of(R"({"A":{"dtype":"F32","shape":[0]}})"), "\"A\" has no \"data_offsets\""},
    {file_of(R"({"A":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"stride":1}})"),
     "\"A\" has a \"stride\", which the format does not know"},
    {file_of(R"({"\u001b[2J":1})"), "\"\\u001b[2J\" is 1 and not an object"},
    // The metadata.
    {file_of(R"({"__metadata__":[]})"), "\"__metadata__\" is an array and not an object"},
    {file_of(R"({"__metadata__":{"a":1}})"), "\"a\" of \"__metadata__\" is 1 and not a text"},
    {file_of(R"({"__metadata__":{"a":null}})"), "\"a\" of \"__metadata__\" is null and not a text"},
    {file_of(R"({"__metadata__":{"a":{"b":"c"}}})"), "\"a\" of \"__metadata__\" is an object and not a text"},
    {file_of(R"({"__metadata__":{"a":["b"]}})"), "\"a\" of \"__metadata__\" is an array and not a text"},
    // Twice.
    {file_of(
         R"({"A":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"A":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})"),
     "\"A\" is there twice"},
    {file_of(R"({"A":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"\u0041":{}})"), "\"A\" is there twice"},
    {file_of(R"({"__metadata__":{},"__metadata__":{}})"), "\"__metadata__\" is there twice"},
    {file_of(R"({"__metadata__":{"a":"1","a":"1"}})"), "\"a\" of \"__metadata__\" is there twice"},
    {file_of(R"({"A":{"dtype":"F32","dtype":"F32"}})"), "\"dtype\" of \"A\" is there twice"},
    // The type.
    {file_of(with(R"("F31")", "[2,1]", "[8,0]"), 8), "\"A\", \"F31\" [2, 1], ends at 0, before it begins at 8"},
    {file_of(with(R"("f32")", "[2,1]", "[0,8]"), 7), "it is cut off: \"A\" ends at byte 8 of 7"},
    {file_of(with(R"("")", "[2,1]", "[0,8]"), 9), "its last 1 bytes are nobody's"},
    {file_of(with(R"("F8_E4M3FNUZ")", "[2,1]", "[0,8]"), 8),
     "\"A\", F8_E4M3FNUZ [2, 1], has 2 bytes, and its data_offsets have 8"},
    {file_of(with("32", "[2,1]", "[0,8]"), 8), "\"dtype\" of \"A\" is 32 and not a text"},
    {file_of(with(R"(["F32"])", "[2,1]", "[0,8]"), 8), "\"dtype\" of \"A\" is an array and not a text"},
    {file_of(with(R"({"F32":1})", "[2,1]", "[0,8]"), 8), "\"dtype\" of \"A\" is an object and not a text"},
    // The shape.
    {file_of(with(R"("F32")", "2", "[0,8]"), 8), "\"shape\" of \"A\" is 2 and not an array"},
    {file_of(with(R"("F32")", "{}", "[0,8]"), 8), "\"shape\" of \"A\" is an object and not an array"},
    {file_of(with(R"("F32")", R"("[2]")", "[0,8]"), 8), "\"shape\" of \"A\" is \"[2]\" and not an array"},
    {file_of(with(R"("F32")", "[-2,-1]", "[0,8]"), 8), "a number of \"shape\" of \"A\" is -2" + whole},
    {file_of(with(R"("F32")", "[2,-0]", "[0,0]")), "a number of \"shape\" of \"A\" is -0" + whole},
    {file_of(with(R"("F32")", "[2.0]", "[0,8]"), 8), "a number of \"shape\" of \"A\" is 2.0" + whole},
    {file_of(with(R"("F32")", "[2e0]", "[0,8]"), 8), "a number of \"shape\" of \"A\" is 2e0" + whole},
    {file_of(with(R"("F32")", "[1e999]", "[0,8]"), 8), "a number of \"shape\" of \"A\" is 1e999" + whole},
    {file_of(with(R"("F32")", "[18446744073709551616]", "[0,8]"), 8),
     "a number of \"shape\" of \"A\" is 18446744073709551616" + whole},
    {file_of(with(R"("F32")", R"(["2"])", "[0,8]"), 8), "a number of \"shape\" of \"A\" is \"2\"" + whole},
    {file_of(with(R"("F32")", "[null]", "[0,8]"), 8), "a number of \"shape\" of \"A\" is null" + whole},
    {file_of(with(R"("F32")", "[[2]]", "[0,8]"), 8), "a number of \"shape\" of \"A\" is an array" + whole},
    {file_of(with(R"("F32")", "[2,1", "[0,8]"), 8), "a number of \"shape\" of \"A\" is \"data_offsets\"" + whole},
    {file_of(with(R"("F32")", "[3,1]", "[0,8]"), 8), "\"A\", F32 [3, 1], has 12 bytes, and its data_offsets have 8"},
    {file_of(with(R"("F64")", "[2,1]", "[0,8]"), 8), "\"A\", F64 [2, 1], has 16 bytes, and its data_offsets have 8"},
    {file_of(with(R"("F32")", "[]", "[0,8]"), 8), "\"A\", F32 [], has 4 bytes, and its data_offsets have 8"},
    {file_of(with(R"("F32")", "[2,0]", "[0,8]"), 8), "\"A\", F32 [2, 0], has 0 bytes, and its data_offsets have 8"},
    {file_of(with(R"("U8")", "[4294967296,4294967296]", "[0,8]"), 8),
     "\"A\", U8 [4294967296, 4294967296], is larger than any file"},
    // As a product without a limit it would be 8 bytes.
    {file_of(with(R"("U8")", "[9223372036854775812,2]", "[0,8]"), 8),
     "\"A\", U8 [9223372036854775812, 2], is larger than any file"},
    {file_of(with(R"("F32")", "[4611686018427387906]", "[0,8]"), 8),
     "\"A\", F32 [4611686018427387906], is larger than any file"},
    {file_of(with(R"("U8")", "[9223372036854775808,2,0]", "[0,0]")),
     "\"A\", U8 [9223372036854775808, 2, 0], is larger than any file"},
    {file_of(with(R"("F4")", "[3]", "[0,1]"), 1), "\"A\", F4 [3], has 12 bits, which are no whole bytes"},
    {file_of(with(R"("F6_E2M3")", "[2]", "[0,1]"), 1), "\"A\", F6_E2M3 [2], has 12 bits, which are no whole bytes"},
    // The offsets.
    {file_of(with(R"("F32")", "[2,1]", "8"), 8), "\"data_offsets\" of \"A\" is 8 and not an array"},
    {file_of(with(R"("F32")", "[2,1]", "[]"), 8), "\"data_offsets\" of \"A\" has 0 of 2 numbers"},
    {file_of(with(R"("F32")", "[2,1]", "[0]"), 8), "\"data_offsets\" of \"A\" has 1 of 2 numbers"},
    {file_of(with(R"("F32")", "[2,1]", "[0,8,8]"), 8), "\"data_offsets\" of \"A\" has more than 2 numbers"},
    {file_of(with(R"("F32")", "[2,1]", "[-8,0]"), 8), "a number of \"data_offsets\" of \"A\" is -8" + whole},
    {file_of(with(R"("F32")", "[2,1]", "[0,8.5]"), 8), "a number of \"data_offsets\" of \"A\" is 8.5" + whole},
    {file_of(with(R"("F32")", "[2,1]", "[8,0]"), 8), "\"A\", F32 [2, 1], ends at 0, before it begins at 8"},
    {file_of(with(R"("F32")", "[2,1]", "[18446744073709551612,4]"), 8),
     "\"A\", F32 [2, 1], ends at 4, before it begins at 18446744073709551612"},
    {file_of(with(R"("F32")", "[2,1]", "[0,8]"), 7), "it is cut off: \"A\" ends at byte 8 of 7"},
    {file_of(with(R"("F32")", "[2,1]", "[0,8]"), 9), "its last 1 bytes are nobody's"},
    {file_of("{}", 3), "its last 3 bytes are nobody's"},
    {file_of(with(R"("F32")", "[2,1]", "[4,12]"), 12), "bytes 0 to 3 before \"A\" are nobody's"},
    {file_of(with(R"("U8")", "[4611686018427387904]", "[0,4611686018427387904]"), 8),
     "\"A\", U8 [4611686018427387904], is larger than any file"},
    {file_of(with(R"("F32")", "[268435456]", "[0,1073741824]"), 8),
     "it is cut off: \"A\" ends at byte 1073741824 of 8"},
    {file_of(two("[0,4]", "[5,9]"), 9), "bytes 4 to 4 before \"B\" are nobody's"},
    {file_of(two("[5,9]", "[0,4]"), 9), "bytes 4 to 4 before \"A\" are nobody's"},
    {file_of(two("[0,4]", "[3,7]"), 7), "\"B\" begins at byte 3, where another one has its numbers up to 4"},
    {file_of(two("[0,4]", "[0,4]"), 4), "\"B\" begins at byte 0, where another one has its numbers up to 4"},
    {file_of(two("[0,4]", "[4,8]"), 4), "it is cut off: \"B\" ends at byte 8 of 4"},
    // Bombs.
    {file_of("{\"A\":" + std::string(1'000'000, '[') + "}"), "\"A\" is an array and not an object"},
    {file_of("{\"A\":{\"shape\":" + std::string(1'000'000, '[') + "}"),
     "a number of \"shape\" of \"A\" is an array" + whole},
    {file_of("{\"" + std::string(1'000'000, 'A') + "\":1}"),
     "\"" + std::string(100, 'A') + "\" … is 1 and not an object"},
};

}  // namespace

TEST_CASE("what is not malformed is read") {
  // Each of these is the neighbour of a case that is refused.
  for (
      const std::string& bytes :
      {file_of("{}"), file_of("{}     "), file_of(good, 8), file_of(good + "   ", 8),
       file_of("{ \"__metadata__\" : {} }"), file_of(R"({"__metadata__":{"a":"1","b":"1"}})"),
       file_of(two("[0,4]", "[4,8]"), 8), file_of(two("[4,8]", "[0,4]"), 8),
       file_of(with(R"("F4")", "[4]", "[0,2]"), 2), file_of(with(R"("F6_E2M3")", "[4]", "[0,3]"), 3),
       file_of(with(R"("F8_E4M3FNUZ")", "[2]", "[0,2]"), 2), file_of(with(R"("F8_E5M2FNUZ")", "[2]", "[0,2]"), 2),
       file_of(with(R"("F31")", "[2,1]", "[0,8]"), 8), file_of(with(R"("")", "[2,1]", "[0,3]"), 3),
       file_of(with(R"("F32")", "[]", "[0,4]"), 4), file_of(with(R"("F32")", "[0,9223372036854775808]", "[0,0]")),
       file_of(R"({"A":{"data_offsets":[0,8],"shape":[2],"dtype":"F32"}})", 8),
       file_of(R"({"\u0041\n":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8),
       // A byte in front of numbers that are wider: the format does not ask for alignment.
       file_of(
           R"({"A":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"B":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})",
           9)})
    CHECK_MESSAGE(why_refused(bytes) == "", bytes);
}

TEST_CASE("what is malformed is refused by its own sentence, and nothing is made of it") {
  std::set<std::string> sentences;
  for (const Case& one : cases) {
    const std::size_t before = allocated;
    const std::string found = why_refused(one.bytes);
    // A few copies of what is there, and never what is claimed: the largest claim is of a gigabyte.
    CHECK_MESSAGE(allocated - before < 20'000 + 12 * one.bytes.size(), one.sentence);
    CHECK(found == one.sentence);
    sentences.insert(found);
  }
  CHECK(cases.size() >= 90);
  CHECK(sentences.size() >= 75);
}

TEST_CASE("a file that breaks off at any place is refused") {
  const std::string bytes = file_of(two("[0,4]", "[4,8]") + "  ", 8);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    CHECK_MESSAGE(why_refused(bytes.substr(0, length)) != "", length);
  CHECK(why_refused(bytes) == "");
}

TEST_CASE("a file with any one byte changed is read or refused by a sentence") {
  const std::string bytes =
      file_of(R"({"__metadata__":{"a":"b"},"A":{"dtype":"U8","shape":[2,4],"data_offsets":[0,8]}})", 8);
  std::size_t refused = 0, read = 0;
  for (std::size_t place = 0; place < bytes.size() - 8; ++place)
    for (const char byte : std::string("\0\x01\x7F\x80\xFF\"\\{}[],:-.0123456789 eABU", 31)) {
      std::string changed = bytes;
      changed[place] = byte;
      const std::size_t before = allocated;
      ++(why_refused(changed) == "" ? read : refused);
      CHECK(allocated - before < 20'000);
    }
  CHECK(refused > 10 * read);
  CHECK(read > 0);
}

TEST_CASE("what is no file is refused in the system's words") {
  const auto sentence = [](const std::filesystem::path& path) {
    return refusal([&] { storage::SafetensorsFile{path}; });
  };
  const auto none = directory / "none";
  CHECK(sentence(none) == "cannot read " + none.string() + ": No such file or directory");
  CHECK(sentence(directory.path()) == "cannot read " + directory.path().string() + ": Is a directory");
  CHECK(sentence("/dev/null") == "cannot read /dev/null, which is no regular file: Invalid argument");
  const auto pipe = directory / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(sentence(pipe) == "cannot read " + pipe.string() + ", which is no regular file: Invalid argument");
}
