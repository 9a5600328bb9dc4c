// SPDX-License-Identifier: MIT
// What the compiler derives about operations, in pairs: one claim holds, and one does not, for the reason given.
#include <examples/positions/appended.hpp>
#include <examples/positions/heads.hpp>
#include <tlm/all.hpp>

using namespace tlm;

// --- The rules, over leaves that are nothing but what they declare. That each premise is needed: proofs/01_rules ----

template <class Claim>
struct Declaring {
  using declared = Claim;
  using domain = Matrix<n, 3>;
  using codomain = domain;
  codomain operator()(domain X) const { return X; }
  auto value_and_pullback(domain X) const {
    return with_pullback(X, [](codomain Y_bar, Declaring&) { return Y_bar; });
  }
  struct State {};
  codomain extend(State&, domain X) const { return X; }
  static constexpr void weights(auto&&, auto&...) {}
};
using Rows = Declaring<is::Rowwise>;
using Past = Declaring<is::Autoregressive>;
using Same = Declaring<is::Constant>;
using Any = Declaring<is::Unrestricted>;
struct Silent {
  using domain = Matrix<n, 3>;
  using codomain = domain;
  codomain operator()(domain X) const { return X; }
  static constexpr void weights(auto&&, auto&...) {}
};

// A leaf is what it declares, and no more; who declares nothing is nothing.
static_assert(rowwise<Rows>);
static_assert(!rowwise<Past> && !rowwise<Any> && !rowwise<Same> && !rowwise<Silent>);
static_assert(autoregressive<Past>);
static_assert(!autoregressive<Any> && !autoregressive<Silent>);
static_assert(constant<Same>);
static_assert(!constant<Rows>);

// Rowwise operations are autoregressive; autoregressive ones need not be rowwise.
static_assert(autoregressive<Rows>);
static_assert(!rowwise<Past>);

// Compositions are what all of their factors are, and so are Stacks, Res and Concat. One is enough to lose it.
static_assert(rowwise<Composition<Rows, Rows, Rows>> && rowwise<Composition<Rows, Rows>>);
static_assert(!rowwise<Composition<Rows, Past, Rows>> && !rowwise<Composition<Past, Rows>>);
static_assert(autoregressive<Composition<Rows, Past, Rows>>);
static_assert(!autoregressive<Composition<Any, Past, Rows>> && !autoregressive<Composition<Rows, Past, Any>>);
static_assert(rowwise<Res<Rows>> && autoregressive<Res<Past>> && !rowwise<Res<Past>> && !autoregressive<Res<Any>>);
static_assert(rowwise<Stack<Rows, 2>> && autoregressive<Stack<Past, 2>> && !autoregressive<Stack<Any, 2>>);
static_assert(rowwise<Concat<Rows, Rows, Rows>> && autoregressive<Concat<Past, Rows, Past>>);
static_assert(!rowwise<Concat<Rows, Rows, Past>> && !autoregressive<Concat<Past, Any, Past>>);
static_assert(!causal_kernel<Concat<Past, Past>> && !constant<Concat<Same, Same>>);

// F with a tied weight is what F is.
using Item = TiedWeight<"W", 3, 3>;
static_assert(rowwise<Tied<Item, Rows>> && autoregressive<Tied<Item, Past>>);
static_assert(!rowwise<Tied<Item, Past>>);
static_assert(!autoregressive<Tied<Item, Any>> && !autoregressive<Tied<Item, Composition<Past, Any>>>,
              "a Tied is autoregressive only if what it ties is");

// F(M) does not depend on X, whatever F is. It is not autoregressive for that: it need not have as many rows as X.
static_assert(constant<FromMemory<Any>> && constant<FromMemory<Rows>>);
static_assert(!autoregressive<FromMemory<Rows>> && !rowwise<FromMemory<Rows>>);
static_assert(!constant<Rows> && !constant<Res<Same>>);
// G∘F is independent of X if F is. That G is, is not asked.
static_assert(constant<Composition<Any, Same>> && constant<Composition<Rows, Any, Same>>);
static_assert(!constant<Composition<Any, Rows>>);

// softmax(◺(Q×Kᵀ)) is a causal kernel if Q and K are autoregressive. Without ◺ it is not, and neither is any other
// operation, autoregressive or not.
template <class Mask, class Q, class K, class Bias = NoBias>
using KernelOf = typename Attention<1, Mask, Q, K, K, Bias>::template KernelOf<Q, K>;
static_assert(causal_kernel<KernelOf<Causal, Past, Past>> && !causal_kernel<KernelOf<Unmasked, Rows, Rows>>);
static_assert(!causal_kernel<Rows> && !causal_kernel<Past>);
// A∘F is one if A is and F is autoregressive.
static_assert(causal_kernel<Composition<KernelOf<Causal, Past, Past>, Past, Rows>>);
static_assert(!causal_kernel<Composition<KernelOf<Causal, Past, Past>, Any>> &&
              !causal_kernel<Composition<Past, Past>>);
static_assert(!autoregressive<KernelOf<Causal, Rows, Rows>>);  // it has n columns, so it is not such an operation

// A mask is what it declares. One that declares nothing, or something else, does not make a causal kernel.
struct SilentMask : Causal {
  using declared = void;
};
struct OtherMask {
  using declared = is::Unrestricted;
  static constexpr std::size_t visible(std::size_t i, std::size_t) { return i + 1; }
};
struct UndeclaredMask {
  static constexpr std::size_t visible(std::size_t i, std::size_t) { return i + 1; }
};
static_assert(rules::follows<Causal, is::LowerTriangular> && !rules::follows<Causal, is::Full>);
static_assert(rules::follows<Unmasked, is::Full> && !rules::follows<Unmasked, is::LowerTriangular>);
static_assert(!causal_kernel<KernelOf<SilentMask, Rows, Rows>> && !causal_kernel<KernelOf<OtherMask, Rows, Rows>> &&
              !causal_kernel<KernelOf<UndeclaredMask, Rows, Rows>>);

// So it is with a bias that is a function of i and j, and with no other.
struct ByPosition : NoBias {};
static_assert(rules::follows<ByPosition, is::Positional>);
struct Whatever {
  using declared = is::Unrestricted;
  static void add(std::size_t, std::size_t, auto) {}
  static void pull_back(std::size_t, std::size_t, const auto&, Whatever&) {}
  static constexpr void weights(auto&&, auto&...) {}
};
static_assert(causal_kernel<KernelOf<Causal, Rows, Past, ByPosition>>);
static_assert(!causal_kernel<KernelOf<Causal, Rows, Past, Whatever>>);
// A bias on the scores of constant keys is refused: a query has no position among them (tests/compile_fail).

// The article's Claim: A(X)×B(X) is autoregressive if A is a causal kernel and B is autoregressive. It is not rowwise.
static_assert(autoregressive<Attention<1, Causal, Rows, Rows, Past>>);
static_assert(!autoregressive<Attention<1, Causal, Rows, Rows, Any>>);
static_assert(!rowwise<Attention<1, Causal, Rows, Rows, Rows>>);

// Without a mask it is, if keys and values do not depend on X: both of them.
static_assert(autoregressive<Attention<1, Unmasked, Rows, Same, Same>>);
// The kernel is rowwise in the query, then.
static_assert(rowwise<KernelOf<Unmasked, Rows, Same>> && !rowwise<KernelOf<Unmasked, Past, Same>>);
static_assert(!rowwise<KernelOf<Unmasked, Rows, Rows>> && !rowwise<KernelOf<Causal, Rows, Rows>>);
// Several heads are derived by the rule of Concat, and lose it in the same ways.
template <class Mask, class Q, class K, class V, class Bias = NoBias>
using ThreeHeads = Attention<3, Mask, Q, K, V, Bias>;
static_assert(autoregressive<ThreeHeads<Causal, Rows, Past, Past>>);
static_assert(!autoregressive<ThreeHeads<Causal, Any, Past, Past>> &&
              !autoregressive<ThreeHeads<Unmasked, Rows, Past, Past>>);
static_assert(!rowwise<ThreeHeads<Causal, Rows, Rows, Rows>>);
static_assert(autoregressive<ThreeHeads<Unmasked, Past, Same, Same>>);

// (x, y) ↦ D(y; E(x)) is autoregressive in y if D is; it does not matter what E is.
static_assert(autoregressive<EncoderDecoder<Any, Past>>);
static_assert(!autoregressive<EncoderDecoder<Past, Any>> && !autoregressive<EncoderDecoder<Any, Any>> &&
                  !autoregressive<Tied<Item, EncoderDecoder<Past, Any>>>,
              "a translator is autoregressive only if its decoder is");

// A name stands for its formula, whatever that is.
struct NamedPast : Composition<Rows, Past> {};
struct NamedAny : Res<Any> {};
struct NamedTwice : NamedPast {};
static_assert(autoregressive<NamedPast> && autoregressive<NamedTwice> && autoregressive<Composition<NamedPast, Rows>>);
static_assert(!rowwise<NamedPast> && !autoregressive<NamedAny>);
static_assert(autoregressive<Res<NamedPast>> && autoregressive<Concat<NamedPast, NamedTwice>>);
static_assert(autoregressive<Stack<NamedPast, 3>> && !autoregressive<Stack<NamedAny, 3>>);

// A form without rules has no claim.
template <class F>
struct UnknownForm;
struct Unknown {
  using form = UnknownForm<Rows>;
  using domain = Matrix<n, 3>;
  using codomain = domain;
};
static_assert(!rowwise<Unknown> && !autoregressive<Unknown> && !causal_kernel<Unknown> && !constant<Unknown>);
static_assert(!rules::Extensible<Unknown> && rules::Extensible<Past> && rules::Extensible<Same> &&
              rules::Extensible<KernelOf<Causal, Rows, Rows>>);

// --- The article's "note that …", one by one -------------------------------------------------------------------------

constexpr Config config{.vocab_size = 11, .d_model = 8, .d_ff = 16, .n_layers = 2, .n_heads = 2, .max_len = 7};
constexpr Config inspirational{.vocab_size = 11,
                               .d_model = 8,
                               .d_ff = 16,
                               .n_layers = 2,
                               .n_heads = 2,
                               .max_len = 7,
                               .block = Block::inspirational};

static_assert(rowwise<Embedding<11, 8>>);
static_assert(rowwise<Normalization<"N", 8>>);
static_assert(rowwise<Times<"W", 8, 4>> && rowwise<Plus<"B", 8>> && rowwise<ReLU<8>>);
static_assert(rowwise<FeedForward<8, 16>>);
static_assert(rowwise<FinalLayer<8, 11>>);

// PE is not rowwise, although the article says so. Row i of X receives row i of PE, but a row alone receives the first.
static_assert(autoregressive<PositionalEncoding<7, 8>>);
static_assert(!rowwise<PositionalEncoding<7, 8>>);

// Neither are the NumPy notebook's ways to see positions. Appending something is autoregressive if it depends on t
// alone. The half of its own sequence in which t is depends on what follows.
static_assert(rowwise<Identity<8>> && rowwise<Zeros<8, 3>>);
template <class P>
using AppendedToEight = Appended<8, P>;
static_assert(autoregressive<AppendedToEight<SequenceNumber<7>>> && !rowwise<AppendedToEight<SequenceNumber<7>>>);
static_assert(autoregressive<AppendedToEight<Indicators<2, 7>>> && !rowwise<AppendedToEight<Indicators<2, 7>>>);
static_assert(!autoregressive<AppendedToEight<IndicatorsOfSequence<2>>>,
              "an indicator of the half of the sequence sees how long the sequence is");
static_assert(autoregressive<AppendedToEight<PositionalEncoding<7, 4>>> &&
              !rowwise<AppendedToEight<PositionalEncoding<7, 4>>>);
static_assert(autoregressive<AppendedToEight<ConstantPositionalEncoding<7, 4>>> &&
              !rowwise<AppendedToEight<ConstantPositionalEncoding<7, 4>>>);

// Positions that are added to queries, keys and values leave attention autoregressive. Another mask does not.
static_assert(autoregressive<HeadsWithPositions<"Q", "K", "V", 8, 2, 4, 7, Causal>>);
static_assert(!autoregressive<HeadsWithPositions<"Q", "K", "V", 8, 2, 4, 7, Unmasked>>);
static_assert(!rowwise<HeadsWithPositions<"Q", "K", "V", 8, 2, 4, 7, Causal>>);

// Attention looks at the rows before.
static_assert(autoregressive<SingleHeadCausalAttention<8>> && autoregressive<CausalAttention<8, 2>>);
static_assert(!rowwise<SingleHeadCausalAttention<8>> && !rowwise<CausalAttention<8, 2>>);
static_assert(autoregressive<MultiHead<8, 2, 4, 4, Causal>>);
static_assert(!autoregressive<MultiHead<8, 2, 4, 4, Unmasked>>);

static_assert(autoregressive<DecoderBlock<8, 16, 2>> && autoregressive<InspirationalDecoderBlock<8, 16, 2>>);
static_assert(!rowwise<DecoderBlock<8, 16, 2>> && !rowwise<InspirationalDecoderBlock<8, 16, 2>>);

static_assert(autoregressive<TransformerLM<config>> && autoregressive<TransformerLM<inspirational>>);
static_assert(!rowwise<TransformerLM<config>> && !rowwise<TransformerLM<inspirational>>);

// --- The encoder–decoders: autoregressive in the target; their encoders see everything ---------------------------------

static_assert(rowwise<LayerNorm<"LayerNorm", 8>> && rowwise<Softmax<8>> && rowwise<FeedForwardNetwork<8, 16>>);
static_assert(!rowwise<ConstantPositionalEncoding<7, 8>>);

constexpr formulated::Config paper{.s = 11, .d_model = 8, .d_ff = 16, .d_k = 4, .d_v = 4, .h = 2, .N = 2, .max_len = 7};
static_assert(autoregressive<formulated::Transformer<paper>> && autoregressive<formulated::Decoder<paper, float>>);
static_assert(!autoregressive<formulated::Encoder<paper, float>>);

constexpr numpy::Config notebook{.src_vocab_size = 11, .tgt_vocab_size = 12};
static_assert(autoregressive<numpy::Transformer<notebook>> && autoregressive<numpy::Decoder<notebook, float>>);
static_assert(!autoregressive<numpy::Encoder<notebook, float>>);

// The same models with one decoder layer that sees every row of the target, like an encoder layer. Neither they nor
// what is made of them can be called autoregressive. So the loss and decoding refuse them (tests/compile_fail).
template <template <formulated::Config, class> class Layer>
using DecoderOf =
    Composition<TiedOutput<"W_e", paper.s, paper.d_model>, Layer<paper, float>,
                ConstantPositionalEncoding<paper.max_len, paper.d_model>, TiedEmbedding<"W_e", paper.s, paper.d_model>>;
template <template <formulated::Config, class> class Layer>
using Translator =
    Composition<Softmax<paper.s>, Tied<TiedWeight<"W_e", paper.s, paper.d_model>,
                                       EncoderDecoder<formulated::Encoder<paper, float>, DecoderOf<Layer>>>>;
static_assert(autoregressive<Translator<formulated::DecoderLayer>>);
static_assert(!autoregressive<Translator<formulated::EncoderLayer>> && !rowwise<Translator<formulated::EncoderLayer>>,
              "a translator is autoregressive only if its decoder is");

template <template <numpy::Config, class> class Layer>
using NumpyTranslator =
    EncoderDecoder<numpy::Encoder<notebook, float>,
                   Composition<Times<"W", notebook.D, notebook.tgt_vocab_size>, Layer<notebook, float>,
                               Embedding<notebook.tgt_vocab_size, notebook.D>>>;
static_assert(autoregressive<NumpyTranslator<numpy::DecoderBlock>>);
static_assert(!autoregressive<NumpyTranslator<numpy::EncoderBlock>>,
              "a translator is autoregressive only if its decoder is");

constexpr wolfram::Config of_wolfram{.src_vocab_size = 9, .tgt_vocab_size = 9};
static_assert(autoregressive<wolfram::Transformer<of_wolfram>> &&
              autoregressive<wolfram::DecoderBlock<of_wolfram, float>>);
static_assert(!autoregressive<wolfram::Encoder<of_wolfram, float>>);
static_assert(!autoregressive<wolfram::EncoderBlock<of_wolfram, float>>, "without a mask every row sees all");
