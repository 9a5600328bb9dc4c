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

}  // namespace peak
