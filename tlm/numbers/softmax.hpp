// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/numbers/functions.hpp>

/// The softmax of some numbers, for attention and for Softmax layers.
namespace tlm {

/// x ← exp(x) / Σ_j exp(x_j). The maximum entry is subtracted first: it cancels, and exp does not overflow.
template <class Adaptor>
void softmax(Vector<Adaptor> x) {
  x = xt::exp(x - max_of(x));
  x = x / sum_of(x);
}

/// With y = softmax(x): ∂y_j/∂x_k = y_j ([j = k] − y_k), hence
///
///   x̄ = y (ȳ − Σ_k y_k ȳ_k),
///
/// which replaces ȳ.
template <class Y, class Cotangent>
void softmax_pullback(const Vector<Y>& y, Vector<Cotangent> y_bar) {
  auto x_bar = y_bar;  // the same entries
  x_bar = y * (y_bar - sum_of(y * y_bar));
}

}  // namespace tlm
