// SPDX-License-Identifier: MIT
/// Says: n_heads divides d_model: every head has d_head = d_model / n_heads columns
#include <tlm/layers/causal_attention.hpp>

#ifdef WRONG
constexpr std::size_t n_heads = 3;
#else
constexpr std::size_t n_heads = 2;
#endif

auto attention(const tlm::CausalAttention<8, n_heads>& CA, const tlm::Matrix<tlm::n, 8>& X) { return CA(X); }
