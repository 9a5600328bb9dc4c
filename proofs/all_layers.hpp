// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>

#include <examples/positions/appended.hpp>
#include <examples/positions/heads.hpp>
#include <tlm/all.hpp>

/// The lists of layers and models that the proofs and the tests of all layers run over: small shapes, each over any
/// arithmetic.
namespace tlm::proofs {

/// (M, X) ↦ F(X), where F reads the memory M. So F is checked as any operation with a source and a target.
template <class F>
using WithMemory = EncoderDecoder<Identity<DomainOf<F>::cols, typename DomainOf<F>::Real>, F>;

inline constexpr std::size_t d_model = 6, d_ff = 7, n_heads = 2, vocab_size = 5, max_len = 9;
/// Rows in a block of attention: so few that 6 rows have two whole blocks. (It equals n_heads. If the two were
/// exchanged, layers with blocks of 32 would show it.)
inline constexpr std::size_t block = 2;

/// Attention as the library composes it, with a given mask, number of heads, and number of rows in a block.
template <class Mask, std::size_t heads, std::size_t rows_in_block, class Real>
using HeadsOf = Attention<heads, Mask, Times<"W_Q", d_model, d_model, Real>, Times<"W_K", d_model, d_model, Real>,
                          Times<"W_V", d_model, d_model, Real>, NoBias, rows_in_block>;

inline constexpr Config small{
    .vocab_size = vocab_size, .d_model = d_model, .d_ff = d_ff, .n_layers = 2, .n_heads = n_heads, .max_len = max_len};
inline constexpr Config small_inspirational{.vocab_size = vocab_size,
                                            .d_model = d_model,
                                            .d_ff = d_ff,
                                            .n_layers = 2,
                                            .n_heads = n_heads,
                                            .max_len = max_len,
                                            .block = Block::inspirational};

inline constexpr formulated::Config small_formulated{
    .s = vocab_size, .d_model = d_model, .d_ff = d_ff, .d_k = 3, .d_v = 5, .h = 2, .N = 2, .max_len = max_len};
inline constexpr numpy::Config small_numpy{
    .src_vocab_size = vocab_size, .tgt_vocab_size = vocab_size, .D = d_model, .h = 2, .max_len = max_len};
inline constexpr wolfram::Config small_wolfram{.src_vocab_size = vocab_size,
                                               .tgt_vocab_size = vocab_size,
                                               .d = d_model,
                                               .heads = n_heads,
                                               .blocks = 2,
                                               .max_len = max_len};

/// Φ∘N∘DB∘…∘DB∘PE, which is T_LM's own formula without Em: its input is not tokens, but any rows.
template <class Formula>
struct WithoutEm;
template <class Phi, class N, class DBs, class PE, class Em>
struct WithoutEm<forms::Composition<Phi, N, DBs, PE, Em>> {
  using Rest = Composition<Phi, N, DBs, PE>;
};

/// A bias that is learned for each head and distance: b(h, i, j) = b_{h, min(i−j, distances−1)}. So all larger
/// distances share the last one. The library has no such bias. This one shows that the place for a bias is right.
template <std::size_t heads, std::size_t distances, class Real>
struct RelativeBias {
  using declared = is::Positional;
  static constexpr std::string_view symbol = "b";

  Matrix<heads, distances, Real> b;

  void add(std::size_t h, std::size_t i, auto s) const {
    for (std::size_t j = 0; j < s.size(); ++j) s[j] += b(h, distance(i, j));
  }
  void pull_back(std::size_t h, std::size_t i, const auto& s_bar, RelativeBias& gradient) const {
    for (std::size_t j = 0; j < s_bar.size(); ++j) gradient.b(h, distance(i, j)) += s_bar[j];
  }
  static constexpr void weights(auto&& visit, auto& bias) { visit("b", bias.b); }

 private:
  static std::size_t distance(std::size_t i, std::size_t j) { return std::min(i - j, distances - 1); }
};

// clang-format off
template <class Real> using Em = Embedding<vocab_size, d_model, Real>;
template <class Real> using PE = PositionalEncoding<max_len, d_model, Real>;
template <class Real> using W_p = ConstantPositionalEncoding<max_len, d_model, Real>;
template <class Real> using SinesCosines = SinesThenCosines<max_len, d_model, Real>;
template <class Real> using Same = Identity<d_model, Real>;
template <class Real> using NumberAppended = Appended<d_model, SequenceNumber<max_len, Real>>;
template <class Real> using IndicatorsAppended = Appended<d_model, Indicators<2, max_len, Real>>;
template <class Real> using IndicatorsOfSequenceAppended = Appended<d_model, IndicatorsOfSequence<2, Real>>;
template <class Real> using N = Normalization<"N", d_model, Real>;
template <class Real> using LN = LayerNorm<"LayerNorm", d_model, Real>;
template <class Real> using TimesA = Times<"A", d_model, d_ff, Real>;
template <class Real> using PlusK = Plus<"K", d_model, Real>;
template <class Real> using ReLu = ReLU<d_model, Real>;
template <class Real> using Gelu = GELU<d_model, Real>;
template <class Real> using TanhGelu = TanhGELU<d_model, Real>;
template <class Real> using DropOut = Dropout<10, d_model, Real>;
template <class Real> using SoftMax = Softmax<d_model, Real>;
template <class Real> using FF = FeedForward<d_model, d_ff, Real>;
template <class Real> using FFN = FeedForwardNetwork<d_model, d_ff, Real>;
template <class Real> using Phi = FinalLayer<d_model, vocab_size, Real>;
template <class Real> using H = HeadsOf<Causal, n_heads, block, Real>;
template <class Real> using BiasedH = Attention<n_heads, Causal, Times<"W_Q", d_model, d_model, Real>, Times<"W_K", d_model, d_model, Real>, Times<"W_V", d_model, d_model, Real>, RelativeBias<n_heads, max_len, Real>, block>;
template <class Real> using PositionedH = HeadsWithPositions<"Q", "K", "V", d_model, n_heads, 3, max_len, Causal, Real>;
template <class Real> using SideBySide = Concat<N<Real>, PE<Real>>;
template <class Real> using CA1 = SingleHeadCausalAttention<d_model, Real>;
template <class Real> using CA = CausalAttention<d_model, n_heads, Real>;
template <class Real> using MH = MultiHead<d_model, n_heads, 3, 5, Unmasked, FromItself, Real>;
template <class Real> using CrossMH = WithMemory<MultiHead<d_model, n_heads, 3, 5, Unmasked, FromMemory, Real>>;
template <class Real> using DB = tlm::DecoderBlock<d_model, d_ff, n_heads, Real>;
template <class Real> using InspirationalDB = InspirationalDecoderBlock<d_model, d_ff, n_heads, Real>;
template <class Real> using ResReLU = Res<ReLu<Real>>;
template <class Real> using TwoFFN = Stack<FFN<Real>, 2>;
template <class Real> using T_LM = TransformerLM<small, Real>;
template <class Real> using InspirationalT_LM = TransformerLM<small_inspirational, Real>;
template <class Real> using BehindEm = typename WithoutEm<typename T_LM<Real>::form>::Rest;
template <class Real> using W_e = TiedWeight<"W_e", vocab_size, d_model, Real>;
template <class Real> using TiedEm = Tied<W_e<Real>, TiedEmbedding<"W_e", vocab_size, d_model, Real>>;
template <class Real> using TiedOut = Tied<W_e<Real>, TiedOutput<"W_e", vocab_size, d_model, Real>>;
template <class Real> using MemoryTimesK = WithMemory<FromMemory<Times<"K", d_model, d_ff, Real>>>;
template <class Real> using EncoderLayer = formulated::EncoderLayer<small_formulated, Real>;
template <class Real> using EncoderBlock = numpy::EncoderBlock<small_numpy, Real>;
template <class Real> using WolframEncoderBlock = wolfram::EncoderBlock<small_wolfram, Real>;
// clang-format on

/// Models with a source and a target, which are not in the list: claim 10 is about them.
template <class Real>
using FormulatedModel = formulated::Transformer<small_formulated, Real>;
template <class Real>
using NumpyModel = numpy::Transformer<small_numpy, Real>;
template <class Real>
using WolframModel = wolfram::Transformer<small_wolfram, Real>;

/// One head of H: d_head columns.
template <class Real>
using OneHead =
    LinearHeads<"W_Q", "W_K", "W_V", d_model, 1, d_model / n_heads, d_model / n_heads, Causal, FromItself, Real>;

/// A layer over any arithmetic, with its name in the book.
template <template <class> class Layer_>
struct Listed {
  template <class Real>
  using Layer = Layer_<Real>;
  std::string_view name;
};

/// The list of claim 4: every leaf, and layers made of a few of them.
inline constexpr std::tuple layers{
    Listed<Em>{"Em"},
    Listed<PE>{"PE"},
    Listed<W_p>{"W_p"},
    Listed<SinesCosines>{"W_p, sines then cosines"},
    Listed<Same>{"X"},
    Listed<NumberAppended>{"(x_t, t)"},
    Listed<IndicatorsAppended>{"(x_t, indicators of t)"},
    Listed<IndicatorsOfSequenceAppended>{"(x_t, indicators of t in its sequence)"},
    Listed<N>{"N"},
    Listed<LN>{"LayerNorm"},
    Listed<TimesA>{"X×A"},
    Listed<PlusK>{"X+K"},
    Listed<ReLu>{"ReLU"},
    Listed<Gelu>{"GELU"},
    Listed<TanhGelu>{"GELU_tanh"},
    Listed<DropOut>{"Dropout, without noise"},
    Listed<SoftMax>{"Softmax"},
    Listed<FFN>{"FFN"},
    Listed<H>{"H, in blocks of 2"},
    Listed<BiasedH>{"H with a bias"},
    Listed<PositionedH>{"H with p_t added to q_t, k_t and v_t"},
    Listed<SideBySide>{"Concat(N, PE)"},
    Listed<MH>{"MultiHead, unmasked"},
    Listed<ResReLU>{"Res(ReLU)"},
    Listed<TwoFFN>{"FFN∘FFN"},
    Listed<TiedEm>{"OneHot(x)×W_e, tied"},
    Listed<TiedOut>{"X×W_eᵀ, tied"},
};

/// The list of claim 5: the parts of T_LM, and T_LM. (Claim 10 has the models with a source and a target, and their
/// blocks.)
inline constexpr std::tuple blocks_and_models{
    Listed<FF>{"FF"},
    Listed<Phi>{"Φ"},
    Listed<CA1>{"CA of one head, without W_O and B"},
    Listed<CA>{"CA"},
    Listed<DB>{"DB"},
    Listed<InspirationalDB>{"DB, inspirational"},
    Listed<BehindEm>{"Φ∘N∘DB∘DB∘PE"},
    Listed<T_LM>{"T_LM"},
    Listed<InspirationalT_LM>{"T_LM, inspirational"},
};

/// Both.
inline constexpr std::tuple all_layers = std::tuple_cat(layers, blocks_and_models);

/// The layers of a list in double, as types.
template <class List>
struct InDouble;
template <class... Ls>
struct InDouble<const std::tuple<Ls...>> {
  using type = std::tuple<typename Ls::template Layer<double>...>;
};
/// The listed layers in double, as types.
using LayersInDouble = typename InDouble<decltype(all_layers)>::type;

/// action(listed) for each of a list.
template <class... Ls, class Action>
void for_each(const std::tuple<Ls...>& list, const Action& action) {
  std::apply([&](const auto&... listed) { (action(listed), ...); }, list);
}

/// action(listed) for every layer of both lists.
template <class Action>
void for_each_layer(const Action& action) {
  for_each(all_layers, action);
}

}  // namespace tlm::proofs
