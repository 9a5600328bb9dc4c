#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>

#include <tlm/tlm.hpp>

/// The one list of layers and models that the proofs run over: small shapes, each over any arithmetic.
namespace tlm::proofs {

inline constexpr std::size_t d_model = 4, d_ff = 6, n_heads = 2, vocab_size = 5, max_len = 8;
/// Rows in a block of attention: so small that whole blocks occur among 6 rows.
inline constexpr std::size_t block = 2;

/// Attention as the library composes it, with a mask and a number of heads and rows in a block of one's own.
template <class Mask, std::size_t heads, std::size_t rows_in_block, class Real>
using HeadsOf = KernelProduct<SoftmaxKernel<heads, Mask, Times<"W_Q", d_model, d_model, Real>,
                                            Times<"W_K", d_model, d_model, Real>, rows_in_block>,
                              Times<"W_V", d_model, d_model, Real>>;

inline constexpr Config small{
    .vocab_size = vocab_size, .d_model = d_model, .d_ff = d_ff, .n_layers = 2, .n_heads = n_heads, .max_len = max_len};
inline constexpr Config small_inspirational{.vocab_size = vocab_size,
                                            .d_model = d_model,
                                            .d_ff = d_ff,
                                            .n_layers = 2,
                                            .n_heads = n_heads,
                                            .max_len = max_len,
                                            .block = Block::inspirational};

// clang-format off
template <class Real> using Em = Embedding<vocab_size, d_model, Real>;
template <class Real> using PE = PositionalEncoding<max_len, d_model, Real>;
template <class Real> using W_p = ConstantPositionalEncoding<max_len, d_model, Real>;
template <class Real> using N = Normalization<"N", d_model, Real>;
template <class Real> using LN = LayerNorm<"LayerNorm", d_model, Real>;
template <class Real> using TimesA = Times<"A", d_model, d_ff, Real>;
template <class Real> using PlusK = Plus<"K", d_model, Real>;
template <class Real> using ReLu = ReLU<d_model, Real>;
template <class Real> using SoftMax = Softmax<d_model, Real>;
template <class Real> using FF = FeedForward<d_model, d_ff, Real>;
template <class Real> using FFN = FeedForwardNetwork<d_model, d_ff, Real>;
template <class Real> using Phi = FinalLayer<d_model, vocab_size, Real>;
template <class Real> using H = HeadsOf<Causal, n_heads, block, Real>;
template <class Real> using CA1 = SingleHeadCausalAttention<d_model, Real>;
template <class Real> using CA = CausalAttention<d_model, n_heads, Real>;
template <class Real> using MH = MultiHead<d_model, n_heads, 3, 2, Unmasked, FromItself, Real>;
template <class Real> using DB = tlm::DecoderBlock<d_model, d_ff, n_heads, Real>;
template <class Real> using InspirationalDB = InspirationalDecoderBlock<d_model, d_ff, n_heads, Real>;
template <class Real> using AfterEm = Composition<Phi<Real>, N<Real>, Stack<DB<Real>, 2>, PE<Real>>;
template <class Real> using T_LM = TransformerLM<small, Real>;
template <class Real> using InspirationalT_LM = TransformerLM<small_inspirational, Real>;
// clang-format on

/// A layer over any arithmetic, with its name in the write-up.
template <template <class> class Layer_>
struct Listed {
  template <class Real>
  using Layer = Layer_<Real>;
  std::string_view name;
};

/// Every layer and model of one input. (Encoder–decoders take two.)
inline constexpr std::tuple layers{
    Listed<Em>{"Em"},
    Listed<PE>{"PE"},
    Listed<W_p>{"W_p"},
    Listed<N>{"N"},
    Listed<LN>{"LayerNorm"},
    Listed<TimesA>{"X×A"},
    Listed<PlusK>{"X+K"},
    Listed<ReLu>{"ReLU"},
    Listed<SoftMax>{"Softmax"},
    Listed<FF>{"FF"},
    Listed<FFN>{"FFN"},
    Listed<Phi>{"Φ"},
    Listed<H>{"H, in blocks of 2"},
    Listed<CA1>{"CA of one head, without W_O and B"},
    Listed<CA>{"CA"},
    Listed<MH>{"MultiHead, unmasked"},
    Listed<DB>{"DB"},
    Listed<InspirationalDB>{"DB, inspirational"},
    Listed<AfterEm>{"Φ∘N∘DB∘DB∘PE"},
    Listed<T_LM>{"T_LM"},
    Listed<InspirationalT_LM>{"T_LM, inspirational"},
};

/// action(listed) for every layer of the list.
template <class Action>
void for_each_layer(const Action& action) {
  std::apply([&](const auto&... listed) { (action(listed), ...); }, layers);
}

/// Whether a layer reads tokens.
template <class Layer>
inline constexpr bool reads_tokens = std::is_same_v<typename Layer::domain, Tokens>;

}  // namespace tlm::proofs
