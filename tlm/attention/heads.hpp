// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <tlm/algebra/memory.hpp>
#include <tlm/attention/kernel_product.hpp>
#include <tlm/attention/softmax_kernel.hpp>

namespace tlm {

/// Keys and values come from the sequence itself (self-attention).
template <class F>
using FromItself = F;

/// H(X) = Concat(H_1(X), …, H_h(X)) with h = n_heads and
///
///   H_i(X) = softmax(mask(Q_i(X)×K_i(X)ᵀ) / √d_head) × V_i(X),
///
/// where Q_i(X), K_i(X) and V_i(X) are the i-th contiguous blocks of columns of Q(X), K(X) and V(X), and `Mask` is Causal
/// (◺) or Unmasked (nothing is masked). K and V may be taken FromMemory (cross-attention).
template <std::size_t n_heads, class Mask, class Q, class K, class V, class Bias = NoBias, std::size_t block = 32>
using Heads = KernelProduct<SoftmaxKernel<n_heads, Mask, Q, K, Bias, block>, V>;

}  // namespace tlm
