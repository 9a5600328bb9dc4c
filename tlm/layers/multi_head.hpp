// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <tlm/algebra/composition.hpp>
#include <tlm/attention/attention.hpp>
#include <tlm/layers/affine.hpp>

namespace tlm {

/// Keys and values come from the sequence itself: self-attention.
template <class F>
using FromItself = F;

/// H(X) = Concat(H_1(X), …, H_h(X)) with h = n_heads and
///
///   H_i(X) = softmax(mask(Q_i(X)×K_i(Z)ᵀ) / √d_k) × V_i(Z),
///   Q_i(X) = X×W_i^Q,  K_i(Z) = Z×W_i^K,  V_i(Z) = Z×W_i^V,
///
/// where Z is X itself (Source = FromItself) or the memory (Source = FromMemory), and `Mask` is Causal (◺) or Unmasked
/// (nothing is masked). W_i^Q, W_i^K ∈ ℝ^{d_model×d_k} and W_i^V ∈ ℝ^{d_model×d_v} are the i-th contiguous blocks of
/// columns of W_Q, W_K and W_V, whose letters are Q, K and V here.
///
/// (Article, "Multi-Head Causal Attention"; The Formulated Transformer, "Scaled Dot-Product Attention"; the NumPy
/// notebook, "Multi-headed self-attention" and "Cross-attention".)
template <Symbol Q, Symbol K, Symbol V, std::size_t d_model, std::size_t n_heads, std::size_t d_k, std::size_t d_v,
          class Mask, template <class> class Source, class Real>
using LinearHeads = Attention<n_heads, Mask,                                    // softmax(mask(  ×  )) ×
                              Times<Q, d_model, n_heads * d_k, Real>,           // Q
                              Source<Times<K, d_model, n_heads * d_k, Real>>,   // Kᵀ
                              Source<Times<V, d_model, n_heads * d_v, Real>>>;  // V

/// MultiHead(X) = H(X)×W_O, where W_O is h·d_v × d_model. (The Formulated Transformer, "Multi-Head Attention".)
template <std::size_t d_model, std::size_t n_heads, std::size_t d_k, std::size_t d_v, class Mask,
          template <class> class Source = FromItself, class Real = float>
struct MultiHead : Composition<Times<"W_O", n_heads * d_v, d_model, Real>,  // × W_O
                               LinearHeads<"W_Q", "W_K", "W_V", d_model, n_heads, d_k, d_v, Mask, Source, Real>> {
};  // H

}  // namespace tlm
