// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/algebra/rules.hpp>

/// What a query (a row) sees of the keys (the columns): always the first keys, up to some number.
namespace tlm {

/// ◺: row i keeps the entries at and below the main diagonal, j ≤ i.
struct Causal {
  using declared = is::LowerTriangular;
  static constexpr std::string_view symbol = "◺";
  /// How many keys the query at position i of its sequence sees: those with j ≤ i. It is defined here only.
  static constexpr std::size_t visible(std::size_t i, std::size_t /*n_keys*/) { return i + 1; }
};

/// Every query sees every key.
struct Unmasked {
  using declared = is::Full;
  static constexpr std::string_view symbol = "the mask";
  /// How many keys a query sees: all of them.
  static constexpr std::size_t visible(std::size_t /*i*/, std::size_t n_keys) { return n_keys; }
};

}  // namespace tlm
