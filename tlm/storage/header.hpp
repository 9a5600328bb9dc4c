// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/storage/tensors.hpp>

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
  std::uint64_t begin = 0, end = 0;
};

/// The content of a header.
struct Header {
  std::map<std::string, Entry> tensors;
  Metadata metadata;
};

/// The maximum length of a header: the limit of the format's own library.
inline constexpr std::uint64_t longest_header = 100'000'000;

/// A text in JSON's notation, without characters that would disturb a terminal, and cut if it is long.
inline std::string printable(std::string_view text) {
  constexpr std::size_t longest = 100;
  const bool cut = text.size() > longest;
  return nlohmann::json(text.substr(0, longest)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
         (cut ? " …" : "");
}

/// A type and a shape, such as "F32 [8, 32]". An unknown type is quoted.
inline std::string described(std::string_view type, const std::vector<std::uint64_t>& shape) {
  std::string text = bits_of(type) > 0 ? std::string(type) : printable(type);
  const char* before = " [";
  for (const std::uint64_t number : shape) {
    if (text.size() > 100) return text + ", …]";
    text += std::exchange(before, ", ") + std::to_string(number);
  }
  return text + (shape.empty() ? " []" : "]");
}

/// The parser's events (a handler of nlohmann's sax_parse). Every rule is checked where it applies, so that nothing is
/// built from what is refused. The parser itself would accept equal keys and endless nesting.
class HeaderParser {
 public:
  /// For a file of this name.
  explicit HeaderParser(const std::string& file) : file_{file} {}

  /// The header, once all of it was read.
  Header header;

  bool null() { unexpected("null"); }
  bool boolean(bool truth) { unexpected(truth ? "true" : "false"); }
  bool number_integer(std::int64_t number) { unexpected(number == 0 ? "-0" : std::to_string(number)); }
  bool number_float(double, const std::string& digits) { unexpected(shortened(digits)); }
  bool binary(std::vector<std::uint8_t>&) { unexpected("binary"); }

  bool number_unsigned(std::uint64_t number) {
    if (inside_ == Inside::shape)
      entry_.shape.push_back(number);
    else if (inside_ == Inside::offsets && offsets_ < 2)
      (offsets_++ == 0 ? entry_.begin : entry_.end) = number;
    else if (inside_ == Inside::offsets)
      refuse("\"data_offsets\" of " + printable(name_) + " has more than 2 numbers");
    else
      unexpected(std::to_string(number));
    return true;
  }

  bool string(std::string& text) {
    if (inside_ == Inside::metadata) {
      header.metadata[key_] = std::move(text);
    } else if (inside_ == Inside::tensor && key_ == "dtype") {
      entry_.type = std::move(text);
    } else {
      unexpected(printable(text));
    }
    return true;
  }

  bool start_object(std::size_t) {
    if (inside_ == Inside::nothing)
      inside_ = Inside::header;
    else if (inside_ == Inside::header)
      inside_ = name_ == "__metadata__" ? Inside::metadata : Inside::tensor;
    else
      unexpected("an object");
    entry_ = {};
    keys_.clear();
    return true;
  }

  bool key(std::string& key) {
    if (inside_ == Inside::header) {
      name_ = std::move(key);
      if (!names_.insert(name_).second) refuse(printable(name_) + " is there twice");
      return true;
    }
    key_ = std::move(key);
    if (inside_ == Inside::tensor && std::find(keys.begin(), keys.end(), key_) == keys.end())
      refuse(printable(name_) + " has a " + printable(key_) + ", which the format does not know");
    if (!keys_.insert(key_).second) refuse(printable(key_) + " of " + printable(name_) + " is there twice");
    return true;
  }

  bool end_object() {
    if (inside_ == Inside::tensor) {
      for (const char* const key : keys)
        if (!keys_.contains(key)) refuse(printable(name_) + " has no " + printable(key));
      check_size();
      header.tensors.emplace(name_, std::move(entry_));
    }
    inside_ = inside_ == Inside::header ? Inside::nothing : Inside::header;
    return true;
  }

  bool start_array(std::size_t) {
    if (inside_ != Inside::tensor || key_ == "dtype") unexpected("an array");
    inside_ = key_ == "shape" ? Inside::shape : Inside::offsets;
    offsets_ = 0;
    return true;
  }

  bool end_array() {
    if (inside_ == Inside::offsets && offsets_ < 2)
      refuse("\"data_offsets\" of " + printable(name_) + " has " + std::to_string(offsets_) + " of 2 numbers");
    inside_ = Inside::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& error) {
    constexpr int out_of_range = 406;  // such as 1e999
    if (error.id == out_of_range) unexpected(shortened(token));
    refuse("its header is not JSON in UTF-8, from byte " + std::to_string(position) + " of it on");
  }

  /// Throws std::runtime_error with the file and the reason.
  [[noreturn]] void refuse(const std::string& why) const {
    tlm::refuse<std::runtime_error>({file_, " is refused: ", why});
  }

 private:
  enum class Inside { nothing, header, metadata, tensor, shape, offsets };
  static constexpr std::array keys{"dtype", "shape", "data_offsets"};

  static std::string shortened(const std::string& digits) {
    return digits.size() > 40 ? digits.substr(0, 40) + "…" : digits;
  }

  [[noreturn]] void unexpected(const std::string& found) const {
    if (inside_ == Inside::header) refuse(printable(name_) + " is " + found + " and not an object");
    const std::string of_name = printable(key_) + " of " + printable(name_);
    if (inside_ == Inside::shape || inside_ == Inside::offsets)
      refuse("a number of " + of_name + " is " + found + ", not a whole one from 0 to " +
             std::to_string(std::numeric_limits<std::uint64_t>::max()));
    const bool text = inside_ == Inside::metadata || key_ == "dtype";
    refuse(of_name + " is " + found + " and not " + (text ? "a text" : "an array"));
  }

  /// The numbers end after they begin. If the type is known, the shape gives the number of bytes between.
  void check_size() const {
    const std::string made = printable(name_) + ", " + described(entry_.type, entry_.shape) + ", ";
    if (entry_.end < entry_.begin)
      refuse(made + "ends at " + std::to_string(entry_.end) + ", before it begins at " + std::to_string(entry_.begin));
    const std::uint64_t of_each = bits_of(entry_.type);
    if (of_each == 0) return;
    std::uint64_t bits = 1;
    const auto times = [&](std::uint64_t factor) {
      if (__builtin_mul_overflow(bits, factor, &bits)) refuse(made + "is larger than any file");
    };
    for (const std::uint64_t number : entry_.shape) times(number);
    times(of_each);
    if (bits % 8 != 0) refuse(made + "has " + std::to_string(bits) + " bits, which are no whole bytes");
    if (entry_.end - entry_.begin != bits / 8)
      refuse(made + "has " + std::to_string(bits / 8) + " bytes, and its data_offsets have " +
             std::to_string(entry_.end - entry_.begin));
  }

  const std::string& file_;
  Inside inside_ = Inside::nothing;
  std::string name_, key_;
  Entry entry_;
  std::set<std::string> names_, keys_;  // of the header, and of the object in it
  std::size_t offsets_ = 0;
};

/// The length of the header of a file with `size` bytes, which begins with `first`. Throws std::runtime_error.
inline std::uint64_t header_length(const std::string& file, std::uint64_t size, const std::array<std::byte, 8>& first) {
  const HeaderParser parser{file};
  const auto length = std::bit_cast<std::uint64_t>(first);
  if (size < first.size())
    parser.refuse("it is cut off, or no safetensors file: it has " + std::to_string(size) +
                  " bytes, and a header begins after 8");
  if (length > longest_header)
    parser.refuse("it is no safetensors file: its first 8 bytes say that its header has " + std::to_string(length) +
                  " bytes, more than " + std::to_string(longest_header));
  if (length > size - first.size())
    parser.refuse("it is cut off, or no safetensors file: its header has " + std::to_string(length) +
                  " bytes, and the file another " + std::to_string(size - first.size()));
  return length;
}

/// The content of a header. Throws std::runtime_error if any rule of the format is broken, with a sentence that begins
/// with the file. Memory is allocated only as the header's text grows.
///
/// Numbers may begin at any byte, as the format allows. write() keeps them aligned.
inline Header read_header(const std::string& file, std::string_view text, std::uint64_t size) {
  HeaderParser parser{file};
  if (!text.starts_with('{')) parser.refuse("it is no safetensors file: its header does not begin with {");
  if (text[text.find_last_not_of(' ')] != '}') parser.refuse("its header does not end with } and spaces");
  // The parser would take this for the end.
  if (text.find('\0') != text.npos) parser.refuse("its header has a byte 0");
  nlohmann::json::sax_parse(text.begin(), text.end(), &parser);

  std::vector<std::pair<const std::string, Entry>*> in_order;
  for (auto& tensor : parser.header.tensors) in_order.push_back(&tensor);
  std::sort(in_order.begin(), in_order.end(), [](const auto* a, const auto* b) {
    return std::pair{a->second.begin, a->second.end} < std::pair{b->second.begin, b->second.end};
  });
  std::uint64_t end = 0;
  for (const auto* tensor : in_order) {
    const Entry& entry = tensor->second;
    if (entry.end > size)
      parser.refuse("it is cut off: " + printable(tensor->first) + " ends at byte " + std::to_string(entry.end) +
                    " of " + std::to_string(size));
    if (entry.begin < end)
      parser.refuse(printable(tensor->first) + " begins at byte " + std::to_string(entry.begin) +
                    ", where another one has its numbers up to " + std::to_string(end));
    if (entry.begin > end)
      parser.refuse("bytes " + std::to_string(end) + " to " + std::to_string(entry.begin - 1) + " before " +
                    printable(tensor->first) + " are nobody's");
    end = entry.end;
  }
  if (end < size) parser.refuse("its last " + std::to_string(size - end) + " bytes are nobody's");
  return std::move(parser.header);
}

/// The header of these tensors, one after the other, with spaces up to a multiple of 8 bytes. Throws
/// std::invalid_argument for a text that is not UTF-8.
inline std::string written_header(const std::vector<Tensor>& tensors, const Metadata& metadata) {
  const auto json = [](const std::string& text) {
    try {
      return nlohmann::json(text).dump();
    } catch (const nlohmann::json::type_error&) {
      refuse<std::invalid_argument>({printable(text), " is not UTF-8, and is not stored"});
    }
  };
  std::string header, before = "{\"__metadata__\":{";
  for (const auto& [key, text] : metadata) header += std::exchange(before, ",") + json(key) + ":" + json(text);
  header += metadata.empty() ? before + "}" : "}";
  std::uint64_t begin = 0;
  for (const Tensor& tensor : tensors) {
    const std::uint64_t end = begin + tensor.bytes.size();
    const nlohmann::json shape = tensor.shape, offsets = {begin, end};
    header += "," + json(tensor.name) + ":{\"dtype\":" + json(std::string(tensor.type)) + ",\"shape\":" + shape.dump() +
              ",\"data_offsets\":" + offsets.dump() + "}";
    begin = end;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return header;
}

}  // namespace tlm::storage
