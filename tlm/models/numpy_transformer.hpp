// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/residual.hpp>
#include <tlm/algebra/stack.hpp>
#include <tlm/layers/embedding.hpp>
#include <tlm/layers/feed_forward_network.hpp>
#include <tlm/layers/multi_head.hpp>
#include <tlm/layers/normalization.hpp>
#include <tlm/layers/positional_encoding.hpp>
#include <tlm/models/complete.hpp>

/// The encoder–decoder of the NumPy notebook (section "The Transformer encoder-decoder"), as its text describes it.
///
/// The notebook's class differs from its text. It has no positional encoding, so its encoder cannot see order. It
/// shares the keys and values of cross-attention among all decoder blocks, and its causal mask is upside down. None of
/// this is here.
///
/// The feed-forward network of the class is a single D×D affine map with ReLU; the text tells no more. Here it is the
/// network of the figure: two affine maps with ReLU between them, and of width d_ff inside, by default D. The class
/// divides the loss by the size of the batch. Here the loss is the mean over the tokens that count. The letters are the
/// notebook's: D, M, h; K, Q, V, W.
namespace tlm::numpy {

/// The parameters, with the values of the notebook's example where it has them.
struct Config {
  std::size_t src_vocab_size = 0;  ///< The size of the source vocabulary; to be given.
  std::size_t tgt_vocab_size = 0;  ///< The size of the target vocabulary; to be given.
  std::size_t D = 4;               ///< The dimension of the vectors.
  std::size_t M = 3;               ///< The dimension of keys, queries and values.
  std::size_t h = 5;               ///< The number of heads.
  std::size_t n_enc = 2;           ///< The number of encoder blocks.
  std::size_t n_dec = 2;           ///< The number of decoder blocks.
  std::size_t d_ff = D;            ///< The width of the feed-forward network inside.
  std::size_t max_len = 64;        ///< The maximum length of a sequence.

  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// x ↦ H(x)×W, where head i is softmax(mask(x Q_i K_iᵀ zᵀ / √M)) z V_i and z is x itself or the memory.
/// ("Multi-headed self-attention", "Masked decoding", "Cross-attention".)
template <Symbol name, Config c, class Mask, template <class> class Source, class Real>
struct Attention : Composition<Times<"W", c.h * c.M, c.D, Real>,
                               LinearHeads<"Q", "K", "V", c.D, c.h, c.M, c.M, Mask, Source, Real>> {
  static constexpr std::string_view symbol = name;
};

/// Self-attention, then the feed-forward network; each with a residual connection and followed by a normalization.
template <Config c, class Real>
struct EncoderBlock : Composition<LayerNorm<"norm_ff", c.D, Real>,                          // normalization
                                  Res<FeedForwardNetwork<c.D, c.d_ff, Real>>,               // feed-forward
                                  LayerNorm<"norm_self", c.D, Real>,                        // normalization
                                  Res<Attention<"self", c, Unmasked, FromItself, Real>>> {  // self-attention
  static constexpr std::string_view symbol = "enc";
};

/// Masked self-attention, cross-attention to the encoder's output, the feed-forward network; each with a residual
/// connection and followed by a normalization. Autoregressive.
template <Config c, class Real>
struct DecoderBlock : Composition<LayerNorm<"norm_ff", c.D, Real>,                         // normalization
                                  Res<FeedForwardNetwork<c.D, c.d_ff, Real>>,              // feed-forward
                                  LayerNorm<"norm_cross", c.D, Real>,                      // normalization
                                  Res<Attention<"cross", c, Unmasked, FromMemory, Real>>,  // cross-attention
                                  LayerNorm<"norm_self", c.D, Real>,                       // normalization
                                  Res<Attention<"self", c, Causal, FromItself, Real>>> {   // masked self-attention
  static constexpr std::string_view symbol = "dec";
};

/// The source: embedded, x̄_t = x_t + p_t, then n_enc encoder blocks.
template <Config c, class Real>
struct Encoder : Composition<Stack<EncoderBlock<c, Real>, c.n_enc>, PositionalEncoding<c.max_len, c.D, Real>,
                             Embedding<c.src_vocab_size, c.D, Real>> {
  static constexpr std::string_view symbol = "src";
};

/// The target: embedded, x̄_t = x_t + p_t, then n_dec decoder blocks, then a score for each token of the vocabulary.
template <Config c, class Real>
struct Decoder : Composition<Plus<"b", c.tgt_vocab_size, Real>, Times<"W", c.D, c.tgt_vocab_size, Real>,
                             Stack<DecoderBlock<c, Real>, c.n_dec>, PositionalEncoding<c.max_len, c.D, Real>,
                             Embedding<c.tgt_vocab_size, c.D, Real>> {
  static constexpr std::string_view symbol = "tgt";
};

/// (source, target) ↦ a row of scores for each token of the target: scores of the tokens that may follow it.
/// Autoregressive in the target. The text has no formula of its loss; Mean is over the tokens that count.
template <Config config_, class Real = float>
struct Transformer
    : EncoderDecoder<Encoder<detail::Complete<config_>::value, Real>, Decoder<detail::Complete<config_>::value, Real>> {
  static constexpr std::string_view symbol = "Transformer";
  static constexpr Config config = config_;
};

}  // namespace tlm::numpy
