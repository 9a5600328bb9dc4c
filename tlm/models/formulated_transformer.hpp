// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/residual.hpp>
#include <tlm/algebra/stack.hpp>
#include <tlm/algebra/tied.hpp>
#include <tlm/layers/constant_positions.hpp>
#include <tlm/layers/feed_forward_network.hpp>
#include <tlm/layers/multi_head.hpp>
#include <tlm/layers/normalization.hpp>
#include <tlm/layers/softmax.hpp>
#include <tlm/layers/tied_embedding.hpp>
#include <tlm/models/complete.hpp>

/// The model of "The Formulated Transformer" (section "Forward pass"), with two corrections. The residual of the
/// decoder's second sublayer adds Y'_l (printed: Y_{l−1}). W_p is defined on all its columns. Its ε is 10⁻⁵ here.
namespace tlm::formulated {

/// The parameters and their values in the paper. ("Hyperparameters".)
struct Config {
  std::size_t s = 0;          ///< The number of items in the vocabulary; to be given.
  std::size_t d_model = 512;  ///< The dimension of the vector representations.
  std::size_t d_ff = 2048;    ///< The dimension of the hidden layer in feed-forward nets.
  std::size_t d_k = 64;       ///< The dimension of the space for queries and keys.
  std::size_t d_v = 64;       ///< The dimension of the space for values.
  std::size_t h = 8;          ///< The number of heads.
  std::size_t N = 6;          ///< The number of encoder layers and of decoder layers.
  std::size_t max_len = 512;  ///< The maximum length of a sequence: the rows of W_p. (Unlimited in the source.)

  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// X ↦ MultiHead(X, Z, Z), where Z is X itself or the memory X_N. ("Multi-Head Attention", "Masked Multi-Head Attention".)
template <Symbol name, Config c, class Mask, template <class> class Z, class Real>
struct NamedMultiHead : MultiHead<c.d_model, c.h, c.d_k, c.d_v, Mask, Z, Real> {
  static constexpr std::string_view symbol = name;
};

/// X_{l−1} ↦ X_l:
///
///   X'_l = LayerNorm(X_{l−1} + MultiHead(X_{l−1}, X_{l−1}, X_{l−1}))
///   X_l  = LayerNorm(X'_l + FFN(X'_l))
template <Config c, class Real>
struct EncoderLayer
    : Composition<LayerNorm<"LayerNorm", c.d_model, Real>,                            // X_l  = LayerNorm(
                  Res<FeedForwardNetwork<c.d_model, c.d_ff, Real>>,                   //   X'_l + FFN(X'_l))
                  LayerNorm<"LayerNorm'", c.d_model, Real>,                           // X'_l = LayerNorm(
                  Res<NamedMultiHead<"MultiHead", c, Unmasked, FromItself, Real>>> {  //   X + MultiHead(X, X, X))
  static constexpr std::string_view symbol = "Encoder";
};

/// Y_{l−1} ↦ Y_l:
///
///   Y'_l  = LayerNorm(Y_{l−1} + MaskedMultiHead(Y_{l−1}, Y_{l−1}, Y_{l−1}))
///   Y''_l = LayerNorm(Y'_l + MultiHead(Y'_l, X_N, X_N))
///   Y_l   = LayerNorm(Y''_l + FFN(Y''_l))
///
/// Autoregressive in Y.
template <Config c, class Real>
struct DecoderLayer
    : Composition<
          LayerNorm<"LayerNorm", c.d_model, Real>,                                // Y_l   = LayerNorm(
          Res<FeedForwardNetwork<c.d_model, c.d_ff, Real>>,                       //   Y''_l + FFN(Y''_l))
          LayerNorm<"LayerNorm''", c.d_model, Real>,                              // Y''_l = LayerNorm(
          Res<NamedMultiHead<"MultiHead", c, Unmasked, FromMemory, Real>>,        //   Y' + MultiHead(Y', X_N, X_N))
          LayerNorm<"LayerNorm'", c.d_model, Real>,                               // Y'_l  = LayerNorm(
          Res<NamedMultiHead<"MaskedMultiHead", c, Causal, FromItself, Real>>> {  //   Y + MaskedMultiHead(Y, Y, Y))
  static constexpr std::string_view symbol = "Decoder";
};

/// x ↦ X_N: X_0 = OneHot(x)×W_e + W_p, then N encoder layers.
template <Config c, class Real>
struct Encoder : Composition<Stack<EncoderLayer<c, Real>, c.N>,                       // X_l, l = 1, …, N
                             ConstantPositionalEncoding<c.max_len, c.d_model, Real>,  // + W_p
                             TiedEmbedding<"W_e", c.s, c.d_model, Real>> {};          // OneHot(x)×W_e

/// y ↦ Y_N×W_eᵀ: Y_0 = OneHot(y)×W_e + W_p, then N decoder layers.
template <Config c, class Real>
struct Decoder : Composition<TiedOutput<"W_e", c.s, c.d_model, Real>,                 // × W_eᵀ
                             Stack<DecoderLayer<c, Real>, c.N>,                       // Y_l, l = 1, …, N
                             ConstantPositionalEncoding<c.max_len, c.d_model, Real>,  // + W_p
                             TiedEmbedding<"W_e", c.s, c.d_model, Real>> {};          // OneHot(y)×W_e

/// (x, y) ↦ Y_N×W_eᵀ, with the one W_e in its three places.
template <Config c, class Real>
struct Scores : Tied<TiedWeight<"W_e", c.s, c.d_model, Real>, EncoderDecoder<Encoder<c, Real>, Decoder<c, Real>>> {};

/// Transformer(x, y) = Softmax(Y_N×W_eᵀ): row i is the distribution of y_{i+1}, given x and y_1, …, y_i.
///
/// Tokens are from {0, …, s − 1}. Autoregressive in y. The source's loss is the objective Sum: Σ_j
/// CrossEntropy(OneHot(y_j), Y_{j−1}).
template <Config config_, class Real = float>
struct Transformer
    : Composition<Softmax<detail::Complete<config_>::value.s, Real>, Scores<detail::Complete<config_>::value, Real>> {
  static constexpr std::string_view symbol = "Transformer";
  static constexpr Config config = config_;
};

}  // namespace tlm::formulated
