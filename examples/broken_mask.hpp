// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>

#include <tlm/attention/mask_and_bias.hpp>

// [mask]
/// ◺ with an error: row i sees this many rows of the future. It declares that it is ◺.
template <std::size_t too_many>
struct BrokenMask {
  using declared = tlm::is::LowerTriangular;
  static constexpr std::size_t visible(std::size_t i, std::size_t n_keys) { return std::min(i + 1 + too_many, n_keys); }
};
// [/mask]
