// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <numeric>
#include <vector>

#include <tlm/parallel/threads.hpp>

#include "timing.hpp"

/// What a machine can do at most.
namespace peak {

/// As many numbers as a register holds on the machine for which this is compiled. The compiler would keep wider ones
/// partly in memory.
using Lanes [[gnu::vector_size(__BIGGEST_ALIGNMENT__)]] = float;
inline constexpr std::size_t lanes = sizeof(Lanes) / sizeof(float);

/// Multiplies and adds in registers alone, for about ten milliseconds. Returns the number of operations.
inline double multiply_and_add() {
  constexpr std::size_t times = 10'000'000, at_once = 12;
  volatile float unknown = 0.5f;
  const float factor = unknown;
  std::array<Lanes, at_once> sums{};
  for (std::size_t k = 0; k < at_once; ++k) sums[k] += float(k);  // or a compiler may see that all are the same
  for (std::size_t k = 0; k < times; ++k)
    for (Lanes& sum : sums) sum = sum * factor + factor;
  for (const Lanes& sum : sums) unknown = sum[0];
  return 2.0 * times * at_once * lanes;
}

/// How many multiplications and additions of float this many threads do in a nanosecond, in registers alone.
inline double gigaflops(std::size_t thread_count) {
  tlm::ThreadPool threads{thread_count};
  std::vector<double> operations(thread_count);
  const auto all = [&] {
    threads.parallel_for(thread_count, [&](std::size_t k) { operations[k] = multiply_and_add(); });
  };
  all();  // a new thread may begin on the processor of another
  const double ms = timing::milliseconds(all);
  return std::accumulate(operations.begin(), operations.end(), 0.0) / ms / 1e6;
}

/// Reads `count` numbers, 8 registers at a time, and leaves out the rest. Returns their sum. It uses 8 sums, so that no
/// addition waits for the one before.
inline float read(const std::vector<float>& numbers, std::size_t count) {
  using Somewhere [[gnu::aligned(alignof(float)), gnu::may_alias]] = Lanes;
  constexpr std::size_t at_once = 8;
  std::array<Lanes, at_once> sums{};
  for (std::size_t e = 0; e + at_once * lanes <= count; e += at_once * lanes)
    for (std::size_t k = 0; k < at_once; ++k) sums[k] += *reinterpret_cast<const Somewhere*>(&numbers[e + k * lanes]);
  float total = 0;
  for (const Lanes& sum : sums)
    for (std::size_t k = 0; k < lanes; ++k) total += sum[k];
  return total;
}

}  // namespace peak
