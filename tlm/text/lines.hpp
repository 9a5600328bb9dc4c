// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string_view>

#include <tlm/base/language.hpp>

/// Lines of a text, by one rule everywhere.
namespace tlm {

/// A line without a carriage return at its end, and without a byte order mark of UTF-8 at its beginning, which the
/// first line of a file may have.
inline std::string_view bare_line(std::string_view line) {
  if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Takes the first line off a text that is not empty. The last line need not end with a line feed.
inline std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return bare_line(line);
}

}  // namespace tlm
