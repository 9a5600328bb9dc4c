// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

/// What was measured: tables of TSV on standard output, which table.py shows and keeps.
namespace table {

/// A number with this many digits after the point.
inline std::string rounded(double number, int digits) {
  std::string text(64, ' ');
  text.resize(std::size_t(std::snprintf(text.data(), text.size(), "%.*f", digits, number)));
  return text;
}

/// Prints a row as soon as it is there. The first one names the columns.
inline void row(const std::vector<std::string>& cells) {
  for (std::size_t j = 0; j < cells.size(); ++j) std::printf(j == 0 ? "%s" : "\t%s", cells[j].c_str());
  std::printf("\n");
  std::fflush(stdout);
}

/// Another table follows.
inline void next() { std::printf("\n"); }

}  // namespace table
