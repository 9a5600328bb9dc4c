#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/kernel_product.hpp>
#include <tlm/layers/affine.hpp>
#include <tlm/layers/softmax_kernel.hpp>

namespace tlm {

/// H(X) = Concat(H_1(X), …, H_h(X)) with h = n_heads and
///
///   H_i(X) = softmax(◺(Q_i(X)×K_i(X)ᵀ / √d_head)) × V_i(X),
///   Q_i(X) = X×W_i^Q,  K_i(X) = X×W_i^K,  V_i(X) = X×W_i^V.
///
/// (Article, "Multi-Head Causal Attention".) W_i^Q, W_i^K and W_i^V are the i-th contiguous blocks of d_head columns of
/// W_Q, W_K and W_V. Autoregressive, as a product of a causal kernel with a rowwise operation.
template <std::size_t d_model, std::size_t n_heads, class Real = float>
struct CausalHeads
    : KernelProduct<SoftmaxKernel<n_heads, Causal,                       // softmax(◺(  ×  /√d_head))
                                  Times<"W_Q", d_model, d_model, Real>,  // Q
                                  Times<"W_K", d_model, d_model, Real>>, // Kᵀ
                    Times<"W_V", d_model, d_model, Real>> {              // × V
  static_assert(CanSplit<d_model, n_heads>::value);
};

/// CA(X) = softmax(◺(Q(X)×K(X)ᵀ) / √d_model) × V(X): one head, without W_O and B. (Article, "Causal Attention with one
/// head".) Here d_head = d_model.
template <std::size_t d_model, class Real = float>
struct SingleHeadCausalAttention : CausalHeads<d_model, 1, Real> {
  static constexpr std::string_view symbol = "CA";
};

/// CA(X) = H(X)×W_O + B. (Article, "Multi-Head Causal Attention".)
template <std::size_t d_model, std::size_t n_heads, class Real = float>
struct CausalAttention : Composition<Plus<"B", d_model, Real>,             // + B
                                     Times<"W_O", d_model, d_model, Real>, // × W_O
                                     CausalHeads<d_model, n_heads, Real>>  // H
{
  static constexpr std::string_view symbol = "CA";
};

}  // namespace tlm
