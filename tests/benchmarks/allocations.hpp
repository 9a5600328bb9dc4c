// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

/// What a program allocates by operator new, which allocations.cpp replaces. (OpenBLAS takes its buffers from the system itself.)
namespace allocations {

/// How many there were, and how much of it.
struct Count {
  std::size_t matrices;  ///< At multiples of a cache line, as the entries of matrices lie.
  std::size_t others;
  std::size_t bytes;  ///< At the same time.
};

/// The allocations since the last `begin`, and the most bytes that there were at the same time, with those of before.
Count since();

/// Counts anew, from the bytes that there are.
void begin();

}  // namespace allocations
