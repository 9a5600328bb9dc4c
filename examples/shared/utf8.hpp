// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include <tlm/text/utf8.hpp>

namespace program {

/// The text as UTF-8: each byte that is not part of a character becomes U+FFFD, the replacement character.
inline std::string as_utf8(std::string_view text) {
  std::string characters;
  while (!text.empty()) {
    if (const auto character = tlm::take_character(text)) {
      tlm::append_character(characters, *character);
    } else {
      tlm::append_character(characters, U'\uFFFD');
      text.remove_prefix(1);
    }
  }
  return characters;
}

}  // namespace program
