// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <tlm/models/transformer_lm.hpp>

/// One of the notebook's three examples: its task and its number of steps. (Notebook, "Demo examples".)
struct Example {
  int n_tokens, min_length, max_length;
  std::size_t steps;
};
inline constexpr Example examples[] = {{10, 2, 2, 6'000}, {3, 2, 3, 6'000}, {4, 2, 4, 16'000}};

/// The notebook's model for a task, with one of the two decoder blocks.
template <Example e, tlm::Block block>
using ModelOf = tlm::TransformerLM<tlm::Config{.vocab_size = std::size_t(e.n_tokens) + 1,
                                               .d_model = 128,
                                               .d_ff = 256,
                                               .n_layers = 2,
                                               .n_heads = 2,
                                               .max_len = 2 * std::size_t(e.max_length) + 3,
                                               .block = block}>;
