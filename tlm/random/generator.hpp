// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>

#include <tlm/language.hpp>

namespace tlm {

/// Random numbers that are the same on every machine and with every standard library: the engine's numbers are fixed by
/// the C++ standard, and what is made of them here is exact. (The distributions of the standard library are not fixed.)
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : engine_{seed} {}

  /// Uniformly distributed over the multiples of 2⁻⁵³ in [0, 1).
  double uniform() { return double(engine_() >> 11) * 0x1p-53; }

  /// Uniformly distributed over the integers first, …, last. Throws std::invalid_argument if there are none.
  int integer(int first, int last) {
    if (first > last)
      throw std::invalid_argument("there is no integer from " + std::to_string(first) + " to " + std::to_string(last));
    const auto count = std::uint64_t(std::int64_t(last) - first) + 1;
    // Numbers beyond the last whole multiple of count would favour the first integers: draw again.
    const std::uint64_t limit = engine_.max() - engine_.max() % count;
    std::uint64_t number = engine_();
    while (number >= limit) number = engine_();
    return int(first + std::int64_t(number % count));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tlm
