// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <new>
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
// std::stable_sort asks for this one.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  allocated += size;
  return std::malloc(size);
}
void operator delete(void* storage) noexcept { std::free(storage); }
void operator delete(void* storage, std::size_t) noexcept { std::free(storage); }

namespace tlm::tests::in_malformed {

namespace {

/// The sentence with which a file of these bytes is refused; empty if it is not.
std::string why_refused(const std::string& bytes) {
  put("file", bytes);
  return refusal([] { storage::SafetensorsFile{"file"}; });
}

/// A file with one tensor A, and this many bytes of numbers.
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets, std::size_t bytes = 8) {
  return file_of(R"({"A":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}", bytes);
}
/// A file with two tensors of four bytes.
std::string two(const std::string& a, const std::string& b, std::size_t bytes = 8) {
  return file_of(R"({"A":{"dtype":"U8","shape":[4],"data_offsets":)" + a +
                     R"(},"B":{"dtype":"U8","shape":[4],"data_offsets":)" + b + "}}",
                 bytes);
}
const std::string U8 = R"("U8")", F32 = R"("F32")";
const std::string empty = R"("A":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";

std::string many_times(const std::string& text, int times = 300'000) {
  std::string many;
  for (int i = 0; i < times; ++i) many += text;
  return many;
}

struct Case {
  std::string bytes, sentence;
};

const std::string of_shape = R"("shape" of "A" has )", of_offsets = R"("data_offsets" of "A" has )";
const std::string whole = " and not whole numbers up to 2^64 - 1, without a sign";
const std::string cut_off = "it is cut off, or no safetensors file: ";
const std::string not_json = "its header is not JSON in UTF-8, from byte ";

const std::vector<Case> cases{
    // The length of the header.
    {"", cut_off + "its header ends at byte 8 of 0"},
    {"\x02", cut_off + "its header ends at byte 8 of 1"},
    {std::string(7, '\0'), cut_off + "its header ends at byte 8 of 7"},
    {eight_bytes(0), "it is no safetensors file: its header does not begin with {"},
    {eight_bytes(3) + "{}", cut_off + "its header ends at byte 11 of 10"},
    {eight_bytes(100'000'000) + "{}", cut_off + "its header ends at byte 100000008 of 10"},
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
    {file_of(R"({"A":null})"), R"("A" is null and not an object)"},
    {file_of(R"({"A":1})"), R"("A" is 1 and not an object)"},
    {file_of(R"({"A":-1.5})"), R"("A" is -1.5 and not an object)"},
    {file_of(R"({"A":"F32"})"), R"("A" is "F32" and not an object)"},
    {file_of(R"({"A":[]})"), R"("A" is an array and not an object)"},
    {file_of(R"({"A":{}})"), R"("A" has no "dtype")"},
    {file_of(R"({"A":{"dtype":"F32","data_offsets":[0,0]}})"), R"("A" has no "shape")"},
    {file_of(R"({"A":{"dtype":"F32","shape":[0]}})"), R"("A" has no "data_offsets")"},
    {file_of(R"({"A":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"stride":1}})"),
     R"("stride" of "A" is not known to the format)"},
    {file_of(R"({"\u001b[2J":1})"), "\"\\x1B[2J\" is 1 and not an object"},
    {file_of(R"({"a\"\\":1})"), R"("a\"\\" is 1 and not an object)"},
    {file_of(R"({"\u009b2J":1})"), "\"\\xC2\\x9B2J\" is 1 and not an object"},
    // The metadata.
    {file_of(R"({"__metadata__":[]})"), R"("__metadata__" is an array and not an object)"},
    {file_of(R"({"__metadata__":{"a":1}})"), R"("a" of "__metadata__" is 1 and not a text)"},
    {file_of(R"({"__metadata__":{"a":{"b":"c"}}})"), R"("a" of "__metadata__" is an object and not a text)"},
    {file_of(R"({"__metadata__":{"a":["b"]}})"), R"("a" of "__metadata__" is an array and not a text)"},
    // Twice.
    {file_of("{" + empty + "," + empty + "}"), R"("A" is there twice)"},
    {file_of("{" + empty + R"(,"\u0041":{}})"), R"("A" is there twice)"},
    {file_of(R"({"__metadata__":{},"__metadata__":{}})"), R"("__metadata__" is there twice)"},
    {file_of(R"({"__metadata__":{"a":"1","a":"1"}})"), R"("a" of "__metadata__" is there twice)"},
    {file_of(R"({"A":{"dtype":"F32","dtype":"F32"}})"), R"("dtype" of "A" is there twice)"},
    // The type.
    {one(R"("F31")", "[2,1]", "[8,0]"), R"("A", "F31" [2,1], ends at 0, before it begins at 8)"},
    {one(R"("f32")", "[2,1]", "[0,8]", 7), "it is cut off: its numbers end at byte 8 of 7"},
    {one(R"("")", "[2,1]", "[0,8]", 9), "its numbers end at byte 8 of 9"},
    {one(R"("F8_E4M3FNUZ")", "[2,1]", "[0,8]"), R"("A", F8_E4M3FNUZ [2,1], has 2 bytes, and its data_offsets have 8)"},
    {one("32", "[2,1]", "[0,8]"), R"("dtype" of "A" is 32 and not a text)"},
    {one(R"(["F32"])", "[2,1]", "[0,8]"), R"("dtype" of "A" is an array and not a text)"},
    {one(R"({"F32":1})", "[2,1]", "[0,8]"), R"("dtype" of "A" is an object and not a text)"},
    // The shape.
    {one(F32, "2", "[0,8]"), R"("shape" of "A" is 2 and not an array)"},
    {one(F32, "{}", "[0,8]"), R"("shape" of "A" is an object and not an array)"},
    {one(F32, R"("[2]")", "[0,8]"), R"("shape" of "A" is "[2]" and not an array)"},
    {one(F32, "[-2,-1]", "[0,8]"), of_shape + "-2" + whole},
    {one(F32, "[2,-0]", "[0,0]", 0), of_shape + "-0" + whole},
    {one(F32, "[2.0]", "[0,8]"), of_shape + "2.0" + whole},
    {one(F32, "[2e0]", "[0,8]"), of_shape + "2.0" + whole},
    {one(F32, "[1e999]", "[0,8]"), R"("shape" of "A" has a number larger than any double)"},
    {one(F32, "[18446744073709551616]", "[0,8]"), of_shape + "1.8446744073709552e+19" + whole},
    {one(F32, R"(["2"])", "[0,8]"), of_shape + R"("2")" + whole},
    {one(F32, "[null]", "[0,8]"), of_shape + "null" + whole},
    {one(F32, "[[2]]", "[0,8]"), of_shape + "an array" + whole},
    {one(F32, "[2,1", "[0,8]"), of_shape + R"("data_offsets")" + whole},
    {one(F32, "[3,1]", "[0,8]"), R"("A", F32 [3,1], has 12 bytes, and its data_offsets have 8)"},
    {one(R"("F64")", "[2,1]", "[0,8]"), R"("A", F64 [2,1], has 16 bytes, and its data_offsets have 8)"},
    {one(F32, "[]", "[0,8]"), R"("A", F32 [], has 4 bytes, and its data_offsets have 8)"},
    {one(F32, "[2,0]", "[0,8]"), R"("A", F32 [2,0], has 0 bytes, and its data_offsets have 8)"},
    {one(U8, "[4294967296,4294967296]", "[0,8]"), R"("A", U8 [4294967296,4294967296], is larger than any file)"},
    // As a product without a limit it would be 8 bytes.
    {one(U8, "[9223372036854775812,2]", "[0,8]"), R"("A", U8 [9223372036854775812,2], is larger than any file)"},
    {one(F32, "[4611686018427387906]", "[0,8]"), R"("A", F32 [4611686018427387906], is larger than any file)"},
    {one(U8, "[9223372036854775808,2,0]", "[0,0]", 0), R"("A", U8 [9223372036854775808,2,0], is larger than any file)"},
    {one(R"("F4")", "[3]", "[0,1]", 1), R"("A", F4 [3], has 12 bits, which are no whole bytes)"},
    {one(R"("F6_E2M3")", "[2]", "[0,1]", 1), R"("A", F6_E2M3 [2], has 12 bits, which are no whole bytes)"},
    // The offsets.
    {one(F32, "[2,1]", "8"), R"("data_offsets" of "A" is 8 and not an array)"},
    {one(F32, "[2,1]", "[]"), R"("data_offsets" of "A" has 0 numbers, and not 2)"},
    {one(F32, "[2,1]", "[0]"), R"("data_offsets" of "A" has 1 numbers, and not 2)"},
    {one(F32, "[2,1]", "[0,8,8]"), R"("data_offsets" of "A" has 3 numbers, and not 2)"},
    {one(F32, "[2,1]", "[-8,0]"), of_offsets + "-8" + whole},
    {one(F32, "[2,1]", "[0,8.5]"), of_offsets + "8.5" + whole},
    {one(F32, "[2,1]", "[8,0]"), R"("A", F32 [2,1], ends at 0, before it begins at 8)"},
    {one(F32, "[2,1]", "[18446744073709551612,4]"),
     R"("A", F32 [2,1], ends at 4, before it begins at 18446744073709551612)"},
    {one(F32, "[2,1]", "[0,8]", 7), "it is cut off: its numbers end at byte 8 of 7"},
    {one(F32, "[2,1]", "[0,8]", 9), "its numbers end at byte 8 of 9"},
    {file_of("{}", 3), "its numbers end at byte 0 of 3"},
    {one(F32, "[2,1]", "[4,12]", 12), R"("A" begins at byte 4, and what is before it ends at 0)"},
    {one(U8, "[4611686018427387904]", "[0,4611686018427387904]"),
     R"("A", U8 [4611686018427387904], is larger than any file)"},
    {one(F32, "[268435456]", "[0,1073741824]"), "it is cut off: its numbers end at byte 1073741824 of 8"},
    {two("[0,4]", "[5,9]", 9), R"("B" begins at byte 5, and what is before it ends at 4)"},
    {two("[5,9]", "[0,4]", 9), R"("A" begins at byte 5, and what is before it ends at 4)"},
    {two("[0,4]", "[3,7]", 7), R"("B" begins at byte 3, and what is before it ends at 4)"},
    {two("[0,4]", "[0,4]", 4), R"("B" begins at byte 0, and what is before it ends at 4)"},
    {two("[0,4]", "[4,8]", 4), "it is cut off: its numbers end at byte 8 of 4"},
    // Bombs.
    {file_of(R"({"A":)" + std::string(1'000'000, '[') + "}"), R"("A" is an array and not an object)"},
    {one(F32, std::string(1'000'000, '['), "[0,8]"), of_shape + "an array" + whole},
    {file_of(R"({"A":)" + many_times(R"({"a":)") + "}"), R"("a" of "A" is not known to the format)"},
    {file_of(R"({"__metadata__":)" + many_times(R"({"a":)") + "}"),
     R"("a" of "__metadata__" is an object and not a text)"},
    {one(F32, "[" + many_times("1,", 64) + "2]", "[0,8]"), R"("shape" of "A" has more than 64 numbers)"},
    {one(F32, "[" + many_times("1,") + "2]", "[0,8]"), R"("shape" of "A" has more than 64 numbers)"},
    {file_of(R"({")" + std::string(1'000'000, 'A') + R"(":1})"),
     R"(")" + std::string(100, 'A') + R"(…" is 1 and not an object)"},
    {file_of(R"({"A":")" + std::string(1'000'000, 'x') + R"("})"),
     R"("A" is ")" + std::string(100, 'x') + "…\" and not an object"},
    {file_of(R"({"A":")" + many_times("é") + R"("})"), R"("A" is ")" + many_times("é", 50) + "…\" and not an object"},
};

}  // namespace

TEST_CASE("what is not malformed is read") {
  const Directory directory;
  // Each of these is the neighbour of a case that is refused.
  for (const std::string& bytes :
       {file_of("{}"), file_of("{}     "), one(F32, "[2,1]", "[0,8]"), file_of("{" + empty + "}   "),
        file_of(R"({ "__metadata__" : {} })"), file_of(R"({"__metadata__":{"a":"1","b":"1"}})"), two("[0,4]", "[4,8]"),
        two("[4,8]", "[0,4]"), one(R"("F4")", "[4]", "[0,2]", 2), one(R"("F6_E2M3")", "[4]", "[0,3]", 3),
        one(R"("F8_E4M3FNUZ")", "[2]", "[0,2]", 2), one(R"("F8_E5M2FNUZ")", "[2]", "[0,2]", 2),
        one(R"("F31")", "[2,1]", "[0,8]"), one(R"("")", "[2,1]", "[0,3]", 3), one(F32, "[]", "[0,4]", 4),
        one(F32, "[0,9223372036854775808]", "[0,0]", 0), one(F32, "[9223372036854775808,0]", "[0,0]", 0),
        file_of(R"({"A":{"data_offsets":[0,8],"shape":[2],"dtype":"F32"}})", 8),
        file_of(R"({"\u0041\n":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8),
        one(F32, "[" + many_times("1,", 63) + "2]", "[0,8]"),
        // A byte in front of numbers that are wider: the format does not ask for alignment.
        file_of(R"({"A":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                R"("B":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})",
                9)})
    CHECK_MESSAGE(why_refused(bytes) == "", bytes);
}

TEST_CASE("what is malformed is refused by its own sentence, and nothing is made of it") {
  const Directory directory;
  for (const Case& wrong : cases) {
    const std::size_t before = allocated;
    CHECK(why_refused(wrong.bytes) == "file is refused: " + wrong.sentence);
    // What is there, in a few copies, and never what is claimed: the largest claim is of a gigabyte.
    CHECK_MESSAGE(allocated - before < 20'000 + 12 * wrong.bytes.size(), wrong.sentence);
  }
}

TEST_CASE("a file that breaks off at any place is refused") {
  const Directory directory;
  const std::string bytes = two("[0,4]", "[4,8]");
  for (std::size_t length = 0; length < bytes.size(); ++length)
    CHECK_MESSAGE(why_refused(bytes.substr(0, length)) != "", length);
}

TEST_CASE("a file with any one byte changed is read or refused by a sentence") {
  const Directory directory;
  const std::string bytes =
      file_of(R"({"__metadata__":{"a":"b"},"A":{"dtype":"U8","shape":[2,4],"data_offsets":[0,8]}})", 8);
  std::size_t refused = 0, read = 0;
  for (std::size_t place = 0; place < bytes.size() - 8; ++place)
    for (const char byte : std::string("\0\x01\x7F\x80\xFF\"\\{}[],:-.0123456789 eABU", 31)) {
      std::string changed = bytes;
      changed[place] = byte;
      const std::size_t before = allocated;
      const std::string sentence = why_refused(changed);
      ++(sentence == "" ? read : refused);
      if (sentence != "") CHECK(sentence == Beginning{"file is refused: "});
      CHECK(allocated - before < 20'000);
    }
  CHECK(refused > 10 * read);
  CHECK(read > 0);
}

TEST_CASE("what is no file is refused in the system's words") {
  const Directory directory;
  REQUIRE(::mkfifo("pipe", 0600) == 0);
  for (const auto& [path, why] :
       std::map<std::string, std::string>{{"none", ": No such file or directory"},
                                          {".", ": Is a directory"},
                                          {"/dev/null", ", which is no regular file: Invalid argument"},
                                          {"pipe", ", which is no regular file: Invalid argument"}})
    CHECK(refusal([&, &path = path] { storage::SafetensorsFile{path}; }) == "cannot read " + path + why);
}

}  // namespace tlm::tests::in_malformed
