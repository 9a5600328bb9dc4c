// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/layers/dropout.hpp>
#include <tlm/models/transformer_lm.hpp>

/// T_LM with a Dropout after PE∘Em and after each part of a block: X + Dropout(CA(N_ca(X))), then X + Dropout(FF(X)).
/// Without noise it is T_LM with the decoder block of the definition, weight for weight.
template <tlm::Config c, std::size_t percent>
class NoisyLM {
  using Real = float;
  using Drop = tlm::Dropout<percent, c.d_model, Real>;

  struct Block : tlm::Composition<tlm::Res<tlm::Composition<Drop, tlm::FeedForward<c.d_model, c.d_ff, Real>>>,
                                  tlm::Res<tlm::Composition<Drop, tlm::CausalAttention<c.d_model, c.n_heads, Real>,
                                                            tlm::Normalization<"N_ca", c.d_model, Real>>>> {
    static constexpr std::string_view symbol = "DB";
  };

 public:
  struct Model : tlm::Composition<tlm::FinalLayer<c.d_model, c.vocab_size, Real>,       // Φ
                                  tlm::Normalization<"N", c.d_model, Real>,             // ∘ N
                                  tlm::Stack<Block, c.n_layers>,                        // ∘ DB_n ∘ … ∘ DB_1
                                  Drop,                                                 // ∘ Dropout
                                  tlm::PositionalEncoding<c.max_len, c.d_model, Real>,  // ∘ PE
                                  tlm::Embedding<c.vocab_size, c.d_model, Real>> {      // ∘ Em
    static constexpr std::string_view symbol = "T_LM";
  };
  static_assert(tlm::autoregressive<Model>);
  static_assert(tlm::parameter_count<Model> == tlm::parameter_count<tlm::TransformerLM<c>>);
};
