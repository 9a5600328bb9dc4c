// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/storage/tensors.hpp>
#include <tlm/text/utf8.hpp>

/// The header of a safetensors file. (Format: https://github.com/huggingface/safetensors#format.)
///
/// A file has three parts. The first 8 bytes are the length of the header, lowest byte first. The header is a JSON
/// object in UTF-8, which begins with { and may end with spaces. The numbers follow. For each tensor the header has an
/// entry
///
///   "NAME": {"dtype": "F32", "shape": [rows, columns], "data_offsets": [begin, end]}
///
/// which has the bytes from begin to before end, counted from the header's end. Together the tensors cover all bytes,
/// each once. The header may also have "__metadata__", an object of texts.
///
/// A tensor may have a type that is not known here. Then its place among the others is checked, and its length is not.
namespace tlm::storage {

static_assert(std::endian::native == std::endian::little,
              "a safetensors file has the lowest byte of a number first: storage is for machines that do, too");

/// Texts by their names, which a file has beside its numbers.
using Metadata = std::map<std::string, std::string>;

/// The entry of a tensor in a header. Its type need not be one of number_types; then the size of its numbers is not
/// known.
struct Entry {
  std::string type;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin, end;
};

/// The content of a header.
struct Header {
  std::map<std::string, Entry> tensors;
  Metadata metadata;
};

/// The maximum length of a header: the limit of the format's own library.
inline constexpr std::uint64_t longest_header = 100'000'000;

/// The maximum number of dimensions: NumPy's. The format has no limit, and JSON takes 30 times as much memory as digits.
inline constexpr int most_dimensions = 64;

/// The type and the shape of an Entry or of NamedNumbers, such as "F32 [8,32]". An unknown type is quoted.
template <class Numbers>
std::string described(const Numbers& numbers) {
  return (bits_of(numbers.type) > 0 ? std::string(numbers.type) : in_quotes(numbers.type)) + " " +
         nlohmann::json(numbers.shape).dump();
}

/// Throws std::runtime_error with the file and the reason.
[[noreturn]] inline void refuse_file(const std::string& file, std::initializer_list<detail::Word> why) {
  refuse<std::runtime_error>({file, " is refused: ", detail::sentence(why)});
}

/// The entry of a tensor, from JSON whose kinds were checked. Its numbers do not end before they begin. If its type is
/// known, its shape gives the number of bytes between. Throws std::runtime_error otherwise.
inline Entry entry_of(const std::string& file, const std::string& name, const nlohmann::json& json) {
  for (const char* const key : {"dtype", "shape", "data_offsets"})
    if (!json.contains(key)) refuse_file(file, {in_quotes(name), " has no ", in_quotes(key)});
  const std::vector<std::uint64_t> offsets = json["data_offsets"];
  if (offsets.size() != 2)
    refuse_file(file, {"\"data_offsets\" of ", in_quotes(name), " has ", offsets.size(), " numbers, and not 2"});
  Entry entry{json["dtype"], json["shape"], offsets[0], offsets[1]};
  const std::string made = in_quotes(name) + ", " + described(entry) + ", ";
  if (entry.end < entry.begin) refuse_file(file, {made, "ends at ", entry.end, ", before it begins at ", entry.begin});
  const std::uint64_t of_each = bits_of(entry.type);
  if (of_each == 0) return entry;
  std::uint64_t bits = 1;
  bool overflows = false;
  for (const std::uint64_t number : entry.shape) overflows |= __builtin_mul_overflow(bits, number, &bits);
  if (overflows || __builtin_mul_overflow(bits, of_each, &bits)) refuse_file(file, {made, "is larger than any file"});
  if (bits % 8 != 0) refuse_file(file, {made, "has ", bits, " bits, which are no whole bytes"});
  if (entry.end - entry.begin != bits / 8)
    refuse_file(file, {made, "has ", bits / 8, " bytes, and its data_offsets have ", entry.end - entry.begin});
  return entry;
}

/// A JSON value in words. The parser has read -0 as an integer with a sign, and all others that are not negative without.
inline std::string in_words(nlohmann::json::parse_event_t event, const nlohmann::json& value) {
  using Event = nlohmann::json::parse_event_t;
  if (event != Event::value) return event == Event::object_start ? "an object" : "an array";
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  return value.type() == nlohmann::json::value_t::number_integer && value == 0 ? "-0" : value.dump();
}

/// What a header has, taken from the parser entry by entry, and nothing that is refused. The parser alone would accept
/// equal keys and endless nesting, and keep all entries as JSON.
inline Header parsed_header(const std::string& file, std::string_view text) {
  using Json = nlohmann::json;
  using Event = Json::parse_event_t;
  Header header;
  std::string name, place;            // of the entry that is read, and the place in it, as a sentence names it
  std::set<std::string> names, keys;  // that were met in the header, and in this entry
  bool is_metadata = false, is_to_be_text = false;
  int count = 0;  // of the numbers at this place, so far
  // What the parser calls for each value, with the number of objects and arrays around it. Entries have 1.
  const auto is_kept = [&](int depth, Event event, const Json& value) {
    if (event == Event::key) {
      const auto& key = value.get_ref<const std::string&>();
      if (depth == 1) {
        name = key;
        keys.clear();
      }
      place = (depth == 1 ? "" : in_quotes(key) + " of ") + in_quotes(name);
      if (!(depth == 1 ? names : keys).insert(key).second) refuse_file(file, {place, " is there twice"});
      is_metadata = name == "__metadata__";
      is_to_be_text = is_metadata || key == "dtype";
      if (depth == 2 && !is_to_be_text && key != "shape" && key != "data_offsets")
        refuse_file(file, {place, " is not known to the format"});
      count = 0;
    } else if (event == Event::object_end || event == Event::array_end) {
      if (depth != 1) return true;
      if (is_metadata)
        header.metadata = value.get<Metadata>();
      else
        header.tensors.emplace(name, entry_of(file, name, value));
      return false;
    } else {
      const auto [fits, wanted] =
          depth < 2       ? std::pair{event == Event::object_start, "an object"}
          : is_to_be_text ? std::pair{value.is_string(), "a text"}
          : depth == 2    ? std::pair{event == Event::array_start, "an array"}
                          : std::pair{value.is_number_unsigned(), "whole numbers up to 2^64 - 1, without a sign"};
      if (!fits) refuse_file(file, {place, depth < 3 ? " is " : " has ", in_words(event, value), " and not ", wanted});
      if (depth == 3 && ++count > most_dimensions)
        refuse_file(file, {place, " has more than ", most_dimensions, " numbers"});
    }
    return true;
  };
  try {
    [[maybe_unused]] const Json what_is_kept = Json::parse(text, is_kept);
  } catch (const Json::parse_error& error) {
    refuse_file(file, {"its header is not JSON in UTF-8, from byte ", error.byte, " of it on"});
  } catch (const Json::out_of_range&) {  // such as 1e999
    refuse_file(file, {place, " has a number larger than any double"});
  }
  return header;
}

/// Throws std::runtime_error for a header that is longer than longest_header, or does not end within a file of `size`
/// bytes. It begins after the first 8.
inline void require_length(const std::string& file, std::uint64_t length, std::uint64_t size) {
  if (length > longest_header)
    refuse_file(file, {"it is no safetensors file: its first 8 bytes say that its header has ", length,
                       " bytes, more than ", longest_header});
  if (8 + length > size)
    refuse_file(file, {"it is cut off, or no safetensors file: its header ends at byte ", 8 + length, " of ", size});
}

/// The content of a header. Throws std::runtime_error if any rule of the format is broken, with a sentence that begins
/// with the file. Memory is allocated only as the header's text grows.
///
/// Numbers may begin at any byte, as the format allows. write() keeps them aligned.
inline Header read_header(const std::string& file, std::string_view text, std::uint64_t size) {
  if (!text.starts_with('{')) refuse_file(file, {"it is no safetensors file: its header does not begin with {"});
  if (text[text.find_last_not_of(' ')] != '}') refuse_file(file, {"its header does not end with } and spaces"});
  // The parser would take this for the end.
  if (text.find('\0') != text.npos) refuse_file(file, {"its header has a byte 0"});
  Header header = parsed_header(file, text);
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::string_view>> in_order;
  for (const auto& [name, entry] : header.tensors) in_order.emplace(entry.begin, entry.end, name);
  std::uint64_t before = 0;  // where the numbers before end
  for (const auto& [begin, end, name] : in_order) {
    if (begin != before)
      refuse_file(file, {in_quotes(name), " begins at byte ", begin, ", and what is before it ends at ", before});
    before = end;
  }
  if (before != size)
    refuse_file(file, {before > size ? "it is cut off: " : "", "its numbers end at byte ", before, " of ", size});
  return header;
}

/// The header of these tensors, one after the other, with spaces up to a multiple of 8 bytes. Throws
/// std::invalid_argument for a text that is not UTF-8.
inline std::string written_header(const std::vector<Tensor>& tensors, const Metadata& metadata) {
  const auto json = [](const std::string& text) {
    try {
      return nlohmann::json(text).dump();
    } catch (const nlohmann::json::type_error&) {
      refuse<std::invalid_argument>({in_quotes(text), " is not UTF-8, and is not stored"});
    }
  };
  std::string header = "{\"__metadata__\":{", comma;
  for (const auto& [key, text] : metadata) header += std::exchange(comma, ",") + json(key) + ":" + json(text);
  header += "}";
  std::uint64_t begin = 0;
  for (const Tensor& tensor : tensors) {
    const std::uint64_t end = begin + tensor.bytes.size();
    const nlohmann::ordered_json entry{{"dtype", tensor.type}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    header += "," + json(tensor.name) + ":" + entry.dump();
    begin = end;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return header;
}

}  // namespace tlm::storage
