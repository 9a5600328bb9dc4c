#pragma once

#include <cstddef>
#include <tuple>

#include <tlm/tlm.hpp>

#include "support.hpp"

/// One list of layers for all tests that hold for every layer: small, in double, with dimensions that differ.
namespace tlm::tests {

inline constexpr std::size_t d_model = 6, d_ff = 10, n_heads = 2, max_len = 9;

/// Attention over blocks of two rows, so that short sequences already consist of several.
using BlockedHeads = KernelProduct<
    SoftmaxKernel<n_heads, Causal, Times<"W_Q", d_model, d_model, double>, Times<"W_K", d_model, d_model, double>, 2>,
    Times<"W_V", d_model, d_model, double>>;

/// The model of the tests.
constexpr Config small(Block block) {
  return {.vocab_size = vocab_size,
          .d_model = d_model,
          .d_ff = d_ff,
          .n_layers = 2,
          .n_heads = n_heads,
          .max_len = max_len,
          .block = block};
}

/// T_LM with the article's block, or with the inspirational one.
template <Block block, class Real = double>
using SmallLM = TransformerLM<small(block), Real>;

/// Layers that do not consist of layers.
using SimpleLayers =
    std::tuple<Embedding<vocab_size, d_model, double>, PositionalEncoding<max_len, d_model, double>,
               ConstantPositionalEncoding<max_len, d_model, double>, Normalization<"N", d_model, double>,
               LayerNorm<"LayerNorm", d_model, double>, Times<"W", d_model, 4, double>, Plus<"B", d_model, double>,
               ReLU<d_model, double>, Softmax<d_model, double>>;

/// Attention in all its forms.
using AttentionLayers =
    std::tuple<BlockedHeads, SingleHeadCausalAttention<d_model, double>, CausalAttention<d_model, 3, double>,
               MultiHead<d_model, n_heads, 2, 4, Causal, FromItself, double>,
               MultiHead<d_model, n_heads, 2, 4, Unmasked, FromItself, double>>;

/// Compositions.
using ComposedLayers =
    std::tuple<FeedForward<d_model, d_ff, double>, FeedForwardNetwork<d_model, d_ff, double>,
               FinalLayer<d_model, vocab_size, double>, Res<ReLU<d_model, double>>,
               DecoderBlock<d_model, d_ff, n_heads, double>, InspirationalDecoderBlock<d_model, d_ff, n_heads, double>,
               Stack<FeedForward<d_model, d_ff, double>, 2>, SmallLM<Block::definition>, SmallLM<Block::inspirational>>;

}  // namespace tlm::tests
