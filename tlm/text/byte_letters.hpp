// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <tlm/text/utf8.hpp>

/// Bytes as letters, so that a list of merges is readable and has spaces only between tokens. It is the alphabet of
/// GPT-2, whose tokenizer the Wolfram article uses.
namespace tlm {

/// The letters of the bytes 0, …, 255. Let b be visible if 33 ≤ b ≤ 126, 161 ≤ b ≤ 172 or 174 ≤ b ≤ 255. The letter of
/// a visible b is the character U+b. The others have U+0100, U+0101, …, in their order:
///
///     letter(b) = b if b is visible, 256 + |{a < b : a is not visible}| otherwise.
///
/// So a space is Ġ (U+0120), and "é", two bytes in UTF-8, is written Ã©.
inline constexpr std::array<char32_t, 256> byte_letters = [] {
  std::array<char32_t, 256> letters{};
  char32_t next = 256;
  for (char32_t b = 0; b < 256; ++b) {
    const bool visible = (33 <= b && b <= 126) || (161 <= b && b <= 172) || 174 <= b;
    letters[b] = visible ? b : next++;
  }
  return letters;
}();

/// Bytes, each written as its letter.
inline std::string letters_of(std::string_view bytes) {
  std::string letters;
  for (const char byte : bytes) append_character(letters, byte_letters[static_cast<unsigned char>(byte)]);
  return letters;
}

}  // namespace tlm
