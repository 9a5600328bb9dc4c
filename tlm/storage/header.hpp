// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
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

/// The condition under which numbers in memory have the bytes that they have in a file.
template <std::endian machine>
struct LowestByteFirst : detail::Condition {
  static_assert(machine == std::endian::little,
                "a safetensors file has the lowest byte of a number first: storage is for machines that do, too");
};
static_assert(LowestByteFirst<std::endian::native>::value);

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

/// The type and the shape of an Entry or of NamedNumbers, such as "F32 [8, 32]". An unknown type is quoted.
template <class Numbers>
std::string described(const Numbers& numbers) {
  std::string text = bits_of(numbers.type) > 0 ? std::string(numbers.type) : in_quotes(numbers.type);
  const char* before = " [";
  for (const std::uint64_t number : numbers.shape) {
    if (text.size() > 100) return text + ", …]";
    text += std::exchange(before, ", ") + std::to_string(number);
  }
  return text + (numbers.shape.empty() ? " []" : "]");
}

/// Throws std::runtime_error with the file and the reason.
[[noreturn]] inline void refuse_file(const std::string& file, std::initializer_list<detail::Word> why) {
  refuse<std::runtime_error>({file, " is refused: ", detail::sentence(why)});
}

/// What a header has, taken from the parser entry by entry, and nothing that is refused. The parser alone would accept
/// equal keys and endless nesting, and keep all entries as JSON.
class HeaderParser {
  using Json = nlohmann::json;
  using Event = Json::parse_event_t;

 public:
  /// For a file of this name.
  explicit HeaderParser(const std::string& file) : file_{file} {}

  /// The header with this text.
  Header parsed(std::string_view text) {
    try {
      [[maybe_unused]] const Json what_is_kept =
          Json::parse(text, [&](int depth, Event event, const Json& value) { return is_kept(depth, event, value); });
    } catch (const Json::parse_error& error) {
      refuse({"its header is not JSON in UTF-8, from byte ", error.byte, " of it on"});
    } catch (const Json::out_of_range&) {  // such as 1e999
      refuse({"a number of ", in_quotes(name_), " is larger than any double"});
    }
    return std::move(header_);
  }

 private:
  /// What the parser calls for each value, with the number of objects and arrays around it. Entries have 1.
  bool is_kept(int depth, Event event, const Json& value) {
    if (event == Event::key && depth == 1) {
      name_ = value;
      if (!names_.insert(name_).second) refuse({in_quotes(name_), " is there twice"});
      keys_.clear();
    } else if (event == Event::key) {
      key_ = value;
      if (!keys_.insert(key_).second) refuse({of_entry(key_), " is there twice"});
      if (!is_metadata() && std::find(keys.begin(), keys.end(), key_) == keys.end())
        refuse({in_quotes(name_), " has a ", in_quotes(key_), ", which the format does not know"});
    } else if (event != Event::object_end && event != Event::array_end) {
      check_kind(depth, event, value);
    } else if (depth == 1) {
      take(value);
      return false;
    }
    return true;
  }

  /// An entry is an object, of texts and of arrays of whole numbers.
  void check_kind(int depth, Event event, const Json& value) {
    const bool is_object = event == Event::object_start, is_array = event == Event::array_start;
    const bool is_to_be_text = is_metadata() || key_ == "dtype";
    if (depth == 1 && !is_object) refuse({in_quotes(name_), " is ", in_words(event, value), " and not an object"});
    if (depth == 2 && (is_to_be_text ? !value.is_string() : !is_array))
      refuse({of_entry(key_), " is ", in_words(event, value), " and not ", is_to_be_text ? "a text" : "an array"});
    if (depth == 2) count_ = 0;
    if (depth < 3) return;
    if (is_object || is_array) refuse({in_quotes(name_), " is nested deeper than an entry"});
    if (++count_ > most_dimensions) refuse({of_entry(key_), " has more than ", most_dimensions, " numbers"});
    if (!value.is_number_unsigned())
      refuse({"a number of ", of_entry(key_), " is ", in_words(event, value), ", not a whole one from 0 to ",
              std::numeric_limits<std::uint64_t>::max()});
  }

  /// Takes an entry, all of which was read.
  void take(const Json& entry) {
    if (is_metadata()) {
      header_.metadata = entry.get<Metadata>();
      return;
    }
    for (const char* const key : keys)
      if (!entry.contains(key)) refuse({in_quotes(name_), " has no ", in_quotes(key)});
    const std::vector<std::uint64_t> offsets = entry["data_offsets"];
    if (offsets.size() != 2) refuse({of_entry("data_offsets"), " has ", offsets.size(), " numbers, and not 2"});
    Entry taken{entry["dtype"], entry["shape"], offsets[0], offsets[1]};
    check_size(taken);
    header_.tensors.emplace(name_, std::move(taken));
  }

  /// The numbers do not end before they begin. If the type is known, the shape gives the number of bytes between.
  void check_size(const Entry& entry) const {
    const std::string made = in_quotes(name_) + ", " + described(entry) + ", ";
    if (entry.end < entry.begin) refuse({made, "ends at ", entry.end, ", before it begins at ", entry.begin});
    const std::uint64_t of_each = bits_of(entry.type);
    if (of_each == 0) return;
    std::uint64_t bits = 1;
    const auto times = [&](std::uint64_t factor) {
      if (__builtin_mul_overflow(bits, factor, &bits)) refuse({made, "is larger than any file"});
    };
    for (const std::uint64_t number : entry.shape) times(number);
    times(of_each);
    if (bits % 8 != 0) refuse({made, "has ", bits, " bits, which are no whole bytes"});
    if (entry.end - entry.begin != bits / 8)
      refuse({made, "has ", bits / 8, " bytes, and its data_offsets have ", entry.end - entry.begin});
  }

  static std::string in_words(Event event, const Json& value) {
    if (event != Event::value) return event == Event::object_start ? "an object" : "an array";
    if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
    return value.type() == Json::value_t::number_integer && value == 0 ? "-0" : value.dump();
  }

  static constexpr std::array keys{"dtype", "shape", "data_offsets"};
  bool is_metadata() const { return name_ == "__metadata__"; }

  std::string of_entry(const std::string& key) const { return in_quotes(key) + " of " + in_quotes(name_); }
  [[noreturn]] void refuse(std::initializer_list<detail::Word> why) const { refuse_file(file_, why); }

  const std::string& file_;
  Header header_;
  std::string name_, key_;              // of the entry that is read, and of what is read in it
  std::set<std::string> names_, keys_;  // that were met in the header, and in this entry
  int count_ = 0;                       // of the numbers of its shape or offsets, so far
};

/// The length of the header of a file with `size` bytes, which begins with `first`. Throws std::runtime_error.
inline std::uint64_t header_length(const std::string& file, std::uint64_t size, const std::array<std::byte, 8>& first) {
  const auto length = std::bit_cast<std::uint64_t>(first);
  if (size < first.size())
    refuse_file(file, {"it is cut off, or no safetensors file: it has ", size, " bytes, and a header begins after 8"});
  if (length > longest_header)
    refuse_file(file, {"it is no safetensors file: its first 8 bytes say that its header has ", length,
                       " bytes, more than ", longest_header});
  if (length > size - first.size())
    refuse_file(file, {"it is cut off, or no safetensors file: its header has ", length,
                       " bytes, and the file another ", size - first.size()});
  return length;
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
  Header header = HeaderParser{file}.parsed(text);
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::string_view>> in_order;
  for (const auto& [name, entry] : header.tensors) in_order.emplace(entry.begin, entry.end, name);
  std::uint64_t before = 0;  // where the numbers before end
  for (const auto& [begin, end, name] : in_order) {
    if (end > size) refuse_file(file, {"it is cut off: ", in_quotes(name), " ends at byte ", end, " of ", size});
    if (begin < before)
      refuse_file(file,
                  {in_quotes(name), " begins at byte ", begin, ", where another one has its numbers up to ", before});
    if (begin > before)
      refuse_file(file, {"bytes ", before, " to ", begin - 1, " before ", in_quotes(name), " are nobody's"});
    before = end;
  }
  if (before < size) refuse_file(file, {"its last ", size - before, " bytes are nobody's"});
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
