// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/stack.hpp>
#include <tlm/layers/decoder_block.hpp>
#include <tlm/layers/embedding.hpp>
#include <tlm/layers/final_layer.hpp>
#include <tlm/layers/normalization.hpp>
#include <tlm/layers/positional_encoding.hpp>
#include <tlm/models/complete.hpp>

namespace tlm {

/// The two formulas that the article gives for a decoder block.
enum class Block : std::size_t {
  definition = 1,  ///< X + CA(N_ca(X)) + FF(X + CA(N_ca(X)))
  inspirational    ///< X + FF(X + CA(N_ca(X)))
};

/// The parameters of the Transformer Language Model. (Article, "Definition of TransformerLM".)
struct Config {
  std::size_t vocab_size = 0;       ///< The size of the set of input tokens; to be given.
  std::size_t d_model = 512;        ///< The length of the vectorwords between layers.
  std::size_t d_ff = 2048;          ///< The width of certain weight matrices inside FF.
  std::size_t n_layers = 6;         ///< The number of decoder blocks.
  std::size_t n_heads = 8;          ///< The number of attention heads in each decoder block.
  std::size_t max_len = 2048;       ///< The maximum number of tokens in an input sequence.
  Block block = Block::definition;  ///< Which decoder block.

  friend constexpr bool operator==(const Config&, const Config&) = default;
};

namespace detail {

/// The decoder block of these parameters.
template <Config c, class Real>
using BlockOf = std::conditional_t<c.block == Block::definition, DecoderBlock<c.d_model, c.d_ff, c.n_heads, Real>,
                                   InspirationalDecoderBlock<c.d_model, c.d_ff, c.n_heads, Real>>;

/// The formula of TransformerLM. (Article, "Definition of TransformerLM".)
template <Config c, class Real>
struct TransformerLMFormula : Composition<FinalLayer<c.d_model, c.vocab_size, Real>,       // Φ
                                          Normalization<"N", c.d_model, Real>,             // ∘ N
                                          Stack<BlockOf<c, Real>, c.n_layers>,             // ∘ DB_n ∘ … ∘ DB_1
                                          PositionalEncoding<c.max_len, c.d_model, Real>,  // ∘ PE
                                          Embedding<c.vocab_size, c.d_model, Real>> {};    // ∘ Em

}  // namespace detail

/// T_LM = Φ ∘ N ∘ DB_n ∘ … ∘ DB_1 ∘ PE ∘ Em, where n is n_layers here, and not the number of rows.
///
/// From sequences of tokens to a row of vocab_size real numbers for each token. Autoregressive.
template <Config config_, class Real = float>
struct TransformerLM : detail::TransformerLMFormula<detail::Complete<config_>::value, Real> {
  static constexpr std::string_view symbol = "T_LM";

  static constexpr Config config = config_;
};

}  // namespace tlm
