// SPDX-License-Identifier: MIT
/// Says: n_heads divides d_model: every head has d_head = d_model / n_heads columns
/// Within: 14
#include <tlm/models/transformer_lm.hpp>

#ifdef WRONG
constexpr std::size_t n_heads = 3;
#else
constexpr std::size_t n_heads = 2;
#endif

tlm::TransformerLM<tlm::Config{.vocab_size = 11, .d_model = 8, .n_heads = n_heads}> model;
