// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <thread>
#include <vector>

#include "timing.hpp"

/// What a machine can do at most.
namespace peak {

/// Multiplies and adds, in registers alone, so often that it takes some ten milliseconds; how many operations these were.
inline double multiply_and_add() {
  using Lanes [[gnu::vector_size(64)]] = float;
  constexpr std::size_t times = 10'000'000, at_once = 12;
  volatile float unknown = 0.5f;
  const float factor = unknown;
  std::array<Lanes, at_once> sums{};
  for (std::size_t k = 0; k < at_once; ++k) sums[k] += float(k);  // or a compiler may see that all are the same
  for (std::size_t k = 0; k < times; ++k)
    for (Lanes& sum : sums) sum = sum * factor + factor;
  for (const Lanes& sum : sums) unknown = sum[0];
  return 2.0 * times * at_once * sizeof(Lanes) / sizeof(float);
}

/// Multiplications and additions of float that so many threads do in a nanosecond, in registers alone.
inline double gigaflops(std::size_t thread_count) {
  double operations = 0;
  const double ms = timing::milliseconds([&] {
    std::vector<std::jthread> others;
    for (std::size_t k = 1; k < thread_count; ++k) others.emplace_back([] { multiply_and_add(); });
    operations = double(thread_count) * multiply_and_add();
  });
  return operations / ms / 1e6;
}

/// Reads numbers as fast as memory gives them, a multiple of 128 of them: their sum, of 8 at a time that do not wait for each
/// other.
inline float read(const std::vector<float>& numbers, std::size_t count) {
  using Lanes [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = float;
  constexpr std::size_t at_once = 8, in_one = sizeof(Lanes) / sizeof(float);
  std::array<Lanes, at_once> sums{};
  for (std::size_t e = 0; e + at_once * in_one <= count; e += at_once * in_one)
    for (std::size_t k = 0; k < at_once; ++k) sums[k] += *reinterpret_cast<const Lanes*>(&numbers[e + k * in_one]);
  Lanes sum{};
  for (const Lanes& each : sums) sum += each;
  float total = 0;
  for (std::size_t k = 0; k < in_one; ++k) total += sum[k];
  return total;
}

}  // namespace peak
