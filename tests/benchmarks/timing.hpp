// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

/// What the benchmarks measure with.
namespace timing {

/// A moment, in milliseconds from some other.
inline double now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// How many milliseconds an action takes.
template <class Action>
double milliseconds(const Action& action) {
  const double start = now();
  action();
  return now() - start;
}

/// The number in the middle; if their count is even, the larger of the two.
inline double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + std::ptrdiff_t(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

}  // namespace timing
