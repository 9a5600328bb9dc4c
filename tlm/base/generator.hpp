// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <random>
#include <stdexcept>

#include <tlm/base/language.hpp>
#include <tlm/base/refuse.hpp>

namespace tlm {

/// Random numbers that are the same on every machine and with every standard library. The C++ standard fixes the
/// engine's numbers, and what is made of them here is exact. (The standard does not fix its distributions.)
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_{seed, 0}, engine_{seed} {}

  /// The state of a generator: its seed, and how many numbers of the engine it has used.
  struct State {
    std::uint64_t seed, drawn;
  };
  /// The state of this generator. Another one continues from it with the same numbers, on any machine.
  const State& state() const { return state_; }
  /// Continues from a state, by drawing again what was drawn: a thousand million numbers take seconds. Throws
  /// std::invalid_argument for more than 2⁴⁰, which could take an hour.
  explicit Generator(const State& state) : state_{state}, engine_{state.seed} {
    if (state.drawn > std::uint64_t(1) << 40)
      refuse<std::invalid_argument>(
          {"a generator that has drawn ", state.drawn, " numbers is not resumed: at most 2^40 are drawn again"});
    engine_.discard(state.drawn);
  }

  /// Uniformly distributed over the multiples of 2⁻⁵³ in [0, 1).
  double uniform() { return double(draw() >> 11) * 0x1p-53; }

  /// Uniformly distributed over the integers first, …, last. Throws std::invalid_argument if there are none.
  int integer(int first, int last) {
    if (first > last) refuse<std::invalid_argument>({"there is no integer from ", first, " to ", last});
    const auto count = std::uint64_t(std::int64_t(last) - first) + 1;
    // Numbers beyond the last whole multiple of count would favour the first integers: draw again.
    const std::uint64_t limit = engine_.max() - engine_.max() % count;
    std::uint64_t number = draw();
    while (number >= limit) number = draw();
    return int(first + std::int64_t(number % count));
  }

 private:
  std::uint64_t draw() {
    ++state_.drawn;
    return engine_();
  }

  State state_;
  std::mt19937_64 engine_;
};

}  // namespace tlm
