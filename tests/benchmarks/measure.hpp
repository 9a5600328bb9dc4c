// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

/// How the benchmarks measure, and how they print what they have measured.
namespace measure {

/// How many milliseconds an action takes.
template <class Action>
double milliseconds(const Action& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// The median milliseconds of each action, over an odd number of rounds. In a round, each action is done once, in turn.
/// One more round comes first, to warm up.
template <class... Action>
auto medians(std::size_t rounds, const Action&... actions) {
  std::array<std::vector<double>, sizeof...(Action)> times;
  for (std::size_t round = 0; round <= rounds; ++round) {
    std::size_t k = 0;
    (times[k++].push_back(milliseconds(actions)), ...);
  }
  std::array<double, sizeof...(Action)> found;
  std::transform(times.begin(), times.end(), found.begin(), [&](std::vector<double>& of_action) {
    const auto first = of_action.begin() + 1, middle = first + std::ptrdiff_t(rounds / 2);
    std::nth_element(first, middle, of_action.end());
    return *middle;
  });
  return found;
}

/// A number with this many digits after the point.
inline std::string rounded(double number, int digits) {
  std::array<char, 64> text;
  return {text.data(), std::size_t(std::snprintf(text.data(), text.size(), "%.*f", digits, number))};
}

/// Prints a row of TSV, which table.py shows and keeps. The first row of a table names the columns. A row without cells
/// ends a table.
inline void row(const std::vector<std::string>& cells) {
  for (std::size_t j = 0; j < cells.size(); ++j) std::printf(j == 0 ? "%s" : "\t%s", cells[j].c_str());
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace measure
