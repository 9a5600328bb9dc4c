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

namespace tlm {

/// The two formulas that the article gives for a decoder block.
enum class Block {
  definition,    ///< X + CA(N_ca(X)) + FF(X + CA(N_ca(X)))
  inspirational  ///< X + FF(X + CA(N_ca(X)))
};

/// The parameters of the Transformer Language Model. (Article, "Definition of TransformerLM".)
struct Config {
  std::size_t vocab_size = 0;       ///< The size of the set of input tokens; to be given.
  std::size_t d_model = 512;        ///< The length of the vectorwords passed from layer to layer.
  std::size_t d_ff = 2048;          ///< The width of certain weight matrices inside FF.
  std::size_t n_layers = 6;         ///< The number of decoder blocks.
  std::size_t n_heads = 8;          ///< The number of attention heads in each decoder block.
  std::size_t max_len = 2048;       ///< The greatest number of tokens in an input sequence.
  Block block = Block::definition;  ///< Which decoder block.
};

/// The vocabulary of a model. Where a Config does not say how large it is, this is the one place to complain, before any
/// layer is made of it.
template <std::size_t vocab_size>
struct Vocabulary {
  static constexpr std::size_t size = vocab_size > 0 ? vocab_size : 1;
  static_assert(vocab_size > 0, "a Config says how many tokens there are: Config{.vocab_size = …}");
};

/// The decoder block of these parameters.
template <Config config, class Real>
using BlockOf = std::conditional_t<config.block == Block::definition,
                                   DecoderBlock<config.d_model, config.d_ff, config.n_heads, Real>,
                                   InspirationalDecoderBlock<config.d_model, config.d_ff, config.n_heads, Real>>;

/// T_LM = Φ ∘ N ∘ DB_n_layers ∘ … ∘ DB_1 ∘ PE ∘ Em. (Article, "Definition of TransformerLM".)
///
/// From sequences of tokens to a row of vocab_size real numbers for each token. Autoregressive.
template <Config config_, class Real_ = float>
struct TransformerLM : Composition<FinalLayer<config_.d_model, Vocabulary<config_.vocab_size>::size, Real_>, // Φ
                                   Normalization<"N", config_.d_model, Real_>,                     // N
                                   Stack<BlockOf<config_, Real_>, config_.n_layers>,               // DB_n ∘ … ∘ DB_1
                                   PositionalEncoding<config_.max_len, config_.d_model, Real_>,    // PE
                                   Embedding<Vocabulary<config_.vocab_size>::size, config_.d_model, Real_>> {// Em
  static constexpr std::string_view symbol = "T_LM";

  using Real = Real_;
  static constexpr Config config = config_;
};

}  // namespace tlm
