// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <tlm/base/language.hpp>

/// UTF-8: characters (code points) as one to four bytes.
namespace tlm {

/// Appends the character to a text. It must be a character: up to U+10FFFF, and not a surrogate.
inline void append_character(std::string& text, char32_t character) {
  const auto byte = [&](char32_t bits) { text.push_back(char(static_cast<unsigned char>(bits))); };
  if (character < 0x80) return byte(character);
  const int following = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  byte((0xF80 >> following & 0xFF) | character >> 6 * following);  // as many ones as there are bytes, and a zero
  for (int left = following - 1; left >= 0; --left) byte(0x80 | (character >> 6 * left & 0x3F));
}

/// Takes the first character off a text. Returns nothing, and leaves the text, if it does not begin with one. Not UTF-8
/// are bytes that are cut off, a character in more bytes than it needs, a surrogate, and a number above U+10FFFF.
inline std::optional<char32_t> take_character(std::string_view& text) {
  if (text.empty()) return {};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const char32_t first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (length == 0 || first >= 0xF8 || text.size() < length) return {};
  char32_t character = length == 1 ? first : first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    character = character << 6 | (byte(i) & 0x3F);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  if (character < least[length] || character > 0x10FFFF || (character >= 0xD800 && character < 0xE000)) return {};
  text.remove_prefix(length);
  return character;
}

/// A text as a sentence quotes it: a long one is cut, what is not a character or controls a terminal becomes \xNN,
/// and \ stands before " and \.
inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 100;
  std::string shown;
  constexpr std::string_view digits = "0123456789ABCDEF";
  while (!text.empty() && shown.size() < most) {
    std::string_view rest = text;
    const auto character = take_character(rest);
    const std::size_t length = character ? text.size() - rest.size() : 1;
    if (character && *character >= 0x20 && (*character < 0x7F || *character >= 0xA0)) {
      if (*character == '"' || *character == '\\') shown += '\\';
      shown += text.substr(0, length);
    } else {
      for (const char byte : text.substr(0, length))
        (shown += "\\x").append({digits[byte >> 4 & 0xF], digits[byte & 0xF]});
    }
    text.remove_prefix(length);
  }
  return '"' + shown + (text.empty() ? "\"" : "…\"");
}

}  // namespace tlm
