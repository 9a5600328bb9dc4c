// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/algebra/rules.hpp>

/// What attention knows of positions. A mask tells what a query (a row) sees of the keys (the columns): always the
/// first keys, up to some number. A bias is added to the scores.
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

/// No bias: nothing is added to the scores of attention.
///
/// A bias b tells attention about positions. Score (i, j) of head h becomes q_i·k_j/√d_head + b(h, i, j), where h, i
/// and j count from 0. A bias works on s, the visible part of row i. It is an expression of xtensor, as X.row(i) is:
/// s += m(0, h) * (xt::arange<float>(s.size()) - float(i)) adds m_h·(j − i). A bias has
///
///   using declared = is::Positional;      b is a function of h, i, j and weights of its own; or is::Unrestricted
///   add(h, i, s)                          s_j += b(h, i, j) for each j
///   pull_back(h, i, s_bar, gradient)      given s̄_j = ∂L/∂s_j, adds ∂L/∂(weights) to the gradient
///   weights(visit, layer)                like a layer
///   symbol                                if it has one, under which its weights are found
struct NoBias {
  using declared = is::Positional;
  static void add(std::size_t, std::size_t, auto) {}
  static void pull_back(std::size_t, std::size_t, const auto&, NoBias&) {}
  static constexpr void weights(auto&&, auto&) {}
};

}  // namespace tlm
