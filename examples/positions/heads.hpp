// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/tied.hpp>
#include <tlm/attention/attention.hpp>
#include <tlm/layers/affine.hpp>
#include <tlm/layers/positional_encoding.hpp>

namespace tlm {

/// X ↦ X + p|n. Here p belongs to the environment, because several layers add the same p.
///
/// Autoregressive, and not rowwise, like PositionalEncoding.
template <Symbol letter, std::size_t max_len, std::size_t cols, class Real = float>
struct TiedPositions {
  using declared = is::Autoregressive;
  using domain = Matrix<n, cols, Real>;
  using codomain = domain;
  using reads = TiedWeight<letter, max_len, cols, Real>;
  static auto written(const auto& X) { return X + letter; }

  /// Throws std::length_error for a sequence longer than max_len.
  codomain operator()(domain X, const reads& item) const {
    State no_rows{};
    return extend(no_rows, std::move(X), item);
  }

  /// dY = dX + dp|n, hence X̄ = Ȳ, and row pos of p receives the row of Ȳ at that position, from every sequence.
  auto value_and_pullback(domain X, const reads& item) const {
    return with_pullback((*this)(std::move(X), item), [](codomain Y_bar, TiedPositions&, reads& item_gradient) {
      positions::accumulate_positions(item_gradient.W, Y_bar);
      return Y_bar;
    });
  }

  using State = std::vector<std::size_t>;  ///< How long each sequence is so far.

  /// Throws like add_positions.
  codomain extend(State& state, domain X, const reads& item) const {
    return positions::add_positions(item.W, state, std::move(X));
  }

  static constexpr void weights(auto&&, auto&) {}
};

/// Attention with h heads of width M, where positions are not added to the input but "to the key, query and value of the
/// input". (The NumPy notebook, "Positional encoding".) With Q(X) = X×Q, whose row t is q_t, and so with k_t and v_t,
///
///   k̄_t = k_t + p_t,   q̄_t = q_t + p_t,   v̄_t = v_t + p_t,
///
/// and there is one p of max_len × h·M weights. Each head has its block of columns. Autoregressive with the mask
/// Causal.
template <Symbol Q, Symbol K, Symbol V, std::size_t d, std::size_t h, std::size_t M, std::size_t max_len, class Mask,
          class Real = float>
using HeadsWithPositions =
    Tied<TiedWeight<"p", max_len, h * M, Real>,
         Attention<h, Mask,                                                                            //
                   Composition<TiedPositions<"p", max_len, h * M, Real>, Times<Q, d, h * M, Real>>,    // q_t + p_t
                   Composition<TiedPositions<"p", max_len, h * M, Real>, Times<K, d, h * M, Real>>,    // k_t + p_t
                   Composition<TiedPositions<"p", max_len, h * M, Real>, Times<V, d, h * M, Real>>>>;  // v_t + p_t

}  // namespace tlm
