// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/residual.hpp>
#include <tlm/algebra/stack.hpp>
#include <tlm/attention/attention.hpp>
#include <tlm/layers/affine.hpp>
#include <tlm/layers/constant_positions.hpp>
#include <tlm/layers/dropout.hpp>
#include <tlm/layers/embedding.hpp>
#include <tlm/layers/gelu.hpp>
#include <tlm/layers/multi_head.hpp>
#include <tlm/layers/normalization.hpp>
#include <tlm/layers/positional_encoding.hpp>
#include <tlm/layers/softmax.hpp>
#include <tlm/models/complete.hpp>

/// The encoder–decoder of the Wolfram article, "Introduction Transformer Model from Math Perspective". It translates. The
/// model follows the source's programs, because its formulas do not compose: their shapes are for columns, their
/// products for rows.
///
/// The source contradicts itself, or is silent, in these places:
///
/// - Its rule for a mask hides the past. Here Causal hides the future, as in its program.
/// - Its learned table of positions has as many rows as the model is wide, 128. Later positions share the last row,
///   while decoding runs to 512 tokens. Here it has max_len rows, and a longer sequence is refused.
/// - Its six blocks are copies of one initialized net, and so presumably begin alike. Here each has weights of its own,
///   as in its figure.
/// - ε = 10⁻⁴ is a parameter of its normalization. It is assumed to be under the root, as in the other LayerNorms.
/// - Its tokens count from 1, and one token both starts and ends. Here tokens count from 0, and the model does not know
///   which of them start and end.
/// - Cross-attention normalizes the memory and not the query, and no normalization follows the last block. This is kept.
/// - Its table of sines is not trained; the same here. Its formula divides by ℓ_max, its program by 10000; here it is
///   10000. The program has all sines before all cosines, while the formula interleaves them.
/// - The loss of its program is the mean over the tokens of a pair, and for a batch the mean of the pairs' means. Its
///   algorithm has the sum. Here Mean is over all tokens of the batch: that of the program if lengths are equal. Sum is the
///   algorithm's.
namespace tlm::wolfram {

/// How the model sees positions.
enum class Positions : std::size_t {
  learned = 1,  ///< By a table of weights: the source's default.
  sinusoidal    ///< By sines, then cosines: constants.
};

/// The parameters, with the values of the source.
struct Config {
  std::size_t src_vocab_size = 0;            ///< The size of the source vocabulary; to be given.
  std::size_t tgt_vocab_size = 0;            ///< The size of the target vocabulary; to be given.
  std::size_t d = 128;                       ///< The width of the model ("embedDim").
  std::size_t heads = 8;                     ///< The number of heads, each of width d/heads.
  std::size_t blocks = 6;                    ///< The number of encoder blocks, and of decoder blocks.
  std::size_t max_len = 512;                 ///< The maximum length of a sequence: how far the source decodes.
  std::size_t dropout_percent = 10;          ///< How many of 100 numbers Dropout drops.
  Positions positions = Positions::learned;  ///< How a position is seen.

  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// The normalization before each part of a block.
template <Symbol name, Config c, class Real>
using Norm = LayerNorm<name, c.d, Real, 10'000>;

/// X + Dropout(F(X)): the form of every part of a block.
template <Config c, class Real, class... F>
using Part = Res<Composition<Dropout<c.dropout_percent, c.d, Real>, F...>>;

/// Y×W_O + b_O with Y = [Y¹; …; Y^H], where Y^h = softmax(mask(Q_h×K_hᵀ)/√d_attn)×V_h and
///
///   Q = X×W_q + b_q,   K = Z×W_k + b_k,   V = Z×W_v + b_v,
///
/// and Z is X itself or the memory. ("Multi head self attention Algorithm". With one head and one row of X, Y is what the
/// "Basic Single Query Attention Algorithm" computes.)
template <Symbol name, Config c, class Mask, template <class> class Z, class Real>
struct Attention : Composition<Affine<"W_O", "b_O", c.d, c.d, Real>,                       // × W_O + b_O
                               tlm::Attention<c.heads, Mask,                               // softmax(mask(  ×  )) ×
                                              Affine<"W_q", "b_q", c.d, c.d, Real>,        // Q
                                              Z<Affine<"W_k", "b_k", c.d, c.d, Real>>,     // Kᵀ
                                              Z<Affine<"W_v", "b_v", c.d, c.d, Real>>>> {  // V
  static constexpr std::string_view symbol = name;
};

/// GELU(X×W_1 + b_1)×W_2 + b_2, 4d wide inside. ("Feed Forward Network".)
template <Config c, class Real>
struct FeedForward : Composition<Affine<"W_2", "b_2", 4 * c.d, c.d, Real>,    // × W_2 + b_2
                                 GELU<4 * c.d, Real>,                         // GELU
                                 Affine<"W_1", "b_1", c.d, 4 * c.d, Real>> {  // × W_1 + b_1
  static constexpr std::string_view symbol = "FF";
};

/// X ↦ X + Dropout(SelfAttention(N(X))). ("selfAttentionBlock".)
template <Config c, class Mask, class Real>
using SelfAttentionBlock = Part<c, Real, Attention<"self", c, Mask, FromItself, Real>, Norm<"N_self", c, Real>>;

/// X ↦ X + Dropout(CrossAttention(X; N(M))), where M is the memory. ("crossAttentionBlock".)
template <Config c, class Real>
using CrossAttentionBlock =
    Part<c, Real, ThroughMemory<Norm<"N_cross", c, Real>, Attention<"cross", c, Unmasked, FromMemory, Real>>>;

/// X ↦ X + Dropout(FF(N(X))). ("feedForwardBlock".)
template <Config c, class Real>
using FeedForwardBlock = Part<c, Real, FeedForward<c, Real>, Norm<"N_FF", c, Real>>;

/// Self-attention, then the feed-forward network. ("encoderStack".)
template <Config c, class Real>
struct EncoderBlock : Composition<FeedForwardBlock<c, Real>,  //
                                  SelfAttentionBlock<c, Unmasked, Real>> {
  static constexpr std::string_view symbol = "enc";
};

/// Masked self-attention, cross-attention to the memory, the feed-forward network. Autoregressive. ("decoderStack".)
template <Config c, class Real>
struct DecoderBlock : Composition<FeedForwardBlock<c, Real>,     //
                                  CrossAttentionBlock<c, Real>,  //
                                  SelfAttentionBlock<c, Causal, Real>> {
  static constexpr std::string_view symbol = "dec";
};

/// x ↦ Dropout(W_e(x_t) + W_p(t)). ("embeddingBlock".)
template <Config c, std::size_t vocab_size, class Real>
using EmbeddingBlock =
    Composition<Dropout<c.dropout_percent, c.d, Real>,
                std::conditional_t<c.positions == Positions::learned, PositionalEncoding<c.max_len, c.d, Real>,
                                   SinesThenCosines<c.max_len, c.d, Real>>,  // + W_p, in weights' paths PE
                Embedding<vocab_size, c.d, Real>>;                           // W_e

/// The source, embedded, then the encoder blocks.
template <Config c, class Real>
struct Encoder : Composition<Stack<EncoderBlock<c, Real>, c.blocks>, EmbeddingBlock<c, c.src_vocab_size, Real>> {
  static constexpr std::string_view symbol = "src";
};

/// The target, embedded, then the decoder blocks, then a score for each token of the vocabulary.
template <Config c, class Real>
struct Decoder : Composition<Affine<"W", "b", c.d, c.tgt_vocab_size, Real>,  // the linear layer
                             Stack<DecoderBlock<c, Real>, c.blocks>, EmbeddingBlock<c, c.tgt_vocab_size, Real>> {
  static constexpr std::string_view symbol = "tgt";
};

/// (source, target) ↦ the probabilities of what may follow each token of the target. Autoregressive in the target. The
/// losses are objectives: for one pair Mean is the source's program, and Sum its algorithm.
template <Config config_, class Real = float>
struct Transformer : Composition<Softmax<detail::Complete<config_>::value.tgt_vocab_size, Real>,  // softmax
                                 EncoderDecoder<Encoder<detail::Complete<config_>::value, Real>,
                                                Decoder<detail::Complete<config_>::value, Real>>> {
  static constexpr std::string_view symbol = "Transformer";
  static constexpr Config config = config_;
};

}  // namespace tlm::wolfram
