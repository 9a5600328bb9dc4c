// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/base/language.hpp>

namespace tlm {

/// The first piece of a text that is not empty. No token crosses the end of a piece, so no token is half of one word
/// and half of the next. The piece is the first of these with which the text begins:
///
///     's 't 're 've 'm 'll 'd              the endings of English
///     a run of letters, of digits, or of other bytes that are not white space; with one space before it or without
///     a run of white space, without its last byte if something else follows and this leaves any
///
/// Letters are those of ASCII and all bytes from 128 on, which make up the other characters of UTF-8. White space is
/// tab, line feed, vertical tab, form feed, carriage return and space. On texts of visible ASCII and white space these
/// are the pieces of GPT-2. For other characters, GPT-2 asks Unicode what is a letter, a digit or white space.
inline std::string_view first_piece(std::string_view text) {
  enum class Kind { letter, digit, space, other };
  const auto kind = [&](std::size_t i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto is_from = [&](unsigned char first, unsigned char last) { return first <= byte && byte <= last; };
    if (is_from('a', 'z') || is_from('A', 'Z') || byte >= 128) return Kind::letter;
    if (is_from('0', '9')) return Kind::digit;
    return byte == ' ' || is_from('\t', '\r') ? Kind::space : Kind::other;
  };
  if (text[0] == '\'')
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
      if (text.starts_with(ending)) return text.substr(0, ending.size());

  const std::size_t begin = text[0] == ' ' && text.size() > 1 && kind(1) != Kind::space ? 1 : 0;
  std::size_t end = begin + 1;
  while (end < text.size() && kind(end) == kind(begin)) ++end;
  if (kind(begin) == Kind::space && end < text.size() && end > 1) --end;
  return text.substr(0, end);
}

}  // namespace tlm
