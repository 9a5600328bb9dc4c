// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

/// What a program allocates by operator new, which allocations.cpp replaces. (OpenBLAS takes its buffers from the system itself.)
namespace allocations {

/// How many there were, and how much of it.
struct Count {
  std::size_t matrices;  ///< At multiples of a cache line, like the entries of matrices.
  std::size_t others;
  std::size_t bytes;  ///< At the same time.
};

/// The number of allocations since the last `begin`, and the maximum of bytes at the same time, those from before
/// included.
Count since();

/// Counts anew, from the bytes that there are.
void begin();

}  // namespace allocations
