// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/algebra/composition.hpp>
#include <tlm/layers/affine.hpp>
#include <tlm/layers/multi_head.hpp>

namespace tlm {

/// CA(X) = H(X)×W_O + B, where H(X) = Concat(H_1(X), …, H_h(X)) with h = n_heads and
///
///   H_i(X) = softmax(◺(Q_i(X)×K_i(X)ᵀ / √d_head)) × V_i(X),
///   Q_i(X) = X×W_i^Q,  K_i(X) = X×W_i^K,  V_i(X) = X×W_i^V.
///
/// (Article, "Multi-Head Causal Attention".) W_i^Q, W_i^K and W_i^V are the i-th blocks of d_head columns of W_Q, W_K
/// and W_V. Autoregressive: a product of a causal kernel with a rowwise operation, then rowwise operations.
template <std::size_t d_model, std::size_t n_heads, class Real = float>
struct CausalAttention : Composition<Plus<"B", d_model, Real>,                                          // + B
                                     MultiHead<d_model, n_heads, detail::head_width<d_model, n_heads>,  // H(X)×W_O
                                               detail::head_width<d_model, n_heads>, Causal, FromItself, Real>> {
  static_assert(detail::CanSplit<d_model, n_heads>::value);
  static constexpr std::string_view symbol = "CA";
};

/// CA(X) = softmax(◺(Q(X)×K(X)ᵀ) / √d_model) × V(X): one head with d_head = d_model, without W_O and B. (Article,
/// "Causal Attention with one head".)
template <std::size_t d_model, class Real = float>
struct SingleHeadCausalAttention
    : LinearHeads<"W_Q", "W_K", "W_V", d_model, 1, d_model, d_model, Causal, FromItself, Real> {
  static constexpr std::string_view symbol = "CA";
};

}  // namespace tlm
