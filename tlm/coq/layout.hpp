// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <tlm/base/language.hpp>

/// How the lines of a file for Coq are broken.
namespace tlm::coq {

/// The longest line.
inline constexpr std::size_t line_length = 120;

/// How many characters a text has in UTF-8.
inline std::size_t length(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// A text that is broken at spaces, where its line would be too long; what follows is one further in than its beginning.
inline std::string broken(const std::string& text) {
  const std::size_t margin = text.find_first_not_of(' ');
  std::string result, line(margin, ' ');
  for (std::size_t begin = margin; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin + 1), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (length(line + word) > line_length) {
      result += line + "\n";
      line = std::string(margin + 1, ' ');
    }
    line += word;
    begin = end;
  }
  return result + line + "\n";
}

/// Parts side by side, if that is not too long for a line; otherwise under each other, each broken.
inline std::string wrapped(const std::vector<std::string>& parts) {
  std::string line, lines;
  for (const std::string& part : parts) {
    line += line.empty() ? part : " " + part.substr(part.find_first_not_of(' '));
    lines += broken(part);
  }
  return length(line) <= line_length ? line + "\n" : lines;
}

}  // namespace tlm::coq
