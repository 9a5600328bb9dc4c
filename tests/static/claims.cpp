// SPDX-License-Identifier: MIT
// What the compiler derives about operations, and what it does not. proofs/01_rules has each rule, with each of its premises
// given up in turn. That the layers and models of the library are called what they are, and no less, is in proofs 4, 5 and 10.
#include <examples/positions/appended.hpp>
#include <examples/positions/heads.hpp>
#include <tlm/all.hpp>

using namespace tlm;

// --- Leaves that are nothing but what they declare -------------------------------------------------------------------

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
  static constexpr void weights(auto&&, auto&) {}
};
using Rows = Declaring<is::Rowwise>;
using Past = Declaring<is::Autoregressive>;
using Same = Declaring<is::Constant>;
using Any = Declaring<is::Unrestricted>;
struct Silent {
  using domain = Matrix<n, 3>;
  using codomain = domain;
  codomain operator()(domain X) const { return X; }
  static constexpr void weights(auto&&, auto&) {}
};

// A leaf is what it declares, and no more; who declares nothing is nothing. Rowwise operations are autoregressive, too.
static_assert(rowwise<Rows> && autoregressive<Rows> && !constant<Rows> && !causal_kernel<Rows>);
static_assert(autoregressive<Past> && !rowwise<Past> && !causal_kernel<Past>);
static_assert(constant<Same> && !rowwise<Same> && !autoregressive<Any>);
static_assert(!rowwise<Silent> && !autoregressive<Silent>);

// --- What is made of them: what is lost with a premise, and what no rule says -----------------------------------------

static_assert(rowwise<Composition<Rows, Rows, Rows>> && !rowwise<Composition<Rows, Past, Rows>>);
static_assert(autoregressive<Composition<Rows, Past, Rows>> && !autoregressive<Composition<Rows, Past, Any>>);
static_assert(constant<Composition<Rows, Any, Same>> && !constant<Composition<Any, Rows>>);
static_assert(!constant<Res<Same>> && !constant<Concat<Same, Same>> && !causal_kernel<Concat<Past, Past>>);

using Item = TiedWeight<"W", 3, 3>;
static_assert(!autoregressive<Tied<Item, Any>> && !autoregressive<Tied<Item, Composition<Past, Any>>>,
              "a Tied is autoregressive only if what it ties is");

// F(M) does not depend on X. It is not autoregressive for that: it need not have as many rows as X.
static_assert(constant<FromMemory<Any>> && !autoregressive<FromMemory<Rows>> && !rowwise<FromMemory<Rows>>);

// softmax(◺(Q×Kᵀ)) has n columns, so it is a causal kernel, and not an autoregressive operation.
template <class Mask, class Q, class K, class Bias = NoBias>
using KernelOf = typename Attention<1, Mask, Q, K, K, Bias>::template KernelOf<Q, K>;
static_assert(causal_kernel<KernelOf<Causal, Past, Past>> && !autoregressive<KernelOf<Causal, Rows, Rows>>);
static_assert(!causal_kernel<KernelOf<Unmasked, Rows, Rows>> && !causal_kernel<Stack<KernelOf<Causal, Past, Past>, 2>>);

// A mask is what it declares. One that declares nothing, or something else, does not make a causal kernel.
struct OtherMask {
  using declared = is::Unrestricted;
  static constexpr std::size_t visible(std::size_t i, std::size_t) { return i + 1; }
};
struct UndeclaredMask {
  static constexpr std::size_t visible(std::size_t i, std::size_t) { return i + 1; }
};
static_assert(!causal_kernel<KernelOf<OtherMask, Rows, Rows>> && !causal_kernel<KernelOf<UndeclaredMask, Rows, Rows>>);

// So it is with a bias. (One on the scores of constant keys is refused: tests/compile_fail.)
struct ByPosition : NoBias {};
struct Whatever {
  using declared = is::Unrestricted;
  static void add(std::size_t, std::size_t, auto) {}
  static void pull_back(std::size_t, std::size_t, const auto&, Whatever&) {}
  static constexpr void weights(auto&&, auto&) {}
};
static_assert(causal_kernel<KernelOf<Causal, Rows, Past, ByPosition>>);
static_assert(!causal_kernel<KernelOf<Causal, Rows, Past, Whatever>>);

// The article's Claim. It is not rowwise, with one head or with three. Without a mask it holds if keys and values do not
// depend on X.
static_assert(autoregressive<Attention<1, Causal, Rows, Rows, Past>>);
static_assert(!autoregressive<Attention<1, Causal, Rows, Rows, Any>>);
static_assert(autoregressive<Attention<1, Unmasked, Rows, Same, Same>>);
static_assert(!rowwise<Attention<1, Causal, Rows, Rows, Rows>> && !rowwise<Attention<3, Causal, Rows, Rows, Rows>>);

static_assert(autoregressive<EncoderDecoder<Any, Past>>);
static_assert(!autoregressive<EncoderDecoder<Past, Any>> && !autoregressive<Tied<Item, EncoderDecoder<Past, Any>>>,
              "a translator is autoregressive only if its decoder is");

// A name stands for its formula, whatever that is, and so does the name of a name.
struct NamedPast : Composition<Rows, Past> {};
struct NamedTwice : NamedPast {};
static_assert(autoregressive<NamedTwice> && !rowwise<NamedTwice> && autoregressive<Concat<NamedPast, NamedTwice>>);

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

// --- Layers and models: with another mask, or other parts, they are not autoregressive --------------------------------

static_assert(autoregressive<SingleHeadCausalAttention<8>> && autoregressive<CausalAttention<8, 2>>);
static_assert(!autoregressive<MultiHead<8, 2, 4, 4, Unmasked>>);
static_assert(!autoregressive<HeadsWithPositions<"Q", "K", "V", 8, 2, 4, 7, Unmasked>>);

template <class P>
using AppendedToEight = Appended<8, P>;
static_assert(autoregressive<AppendedToEight<PositionalEncoding<7, 4>>> &&
              !rowwise<AppendedToEight<PositionalEncoding<7, 4>>>);
static_assert(!autoregressive<AppendedToEight<IndicatorsOfSequence<2>>>,
              "an indicator of the half of the sequence sees how long the sequence is");

constexpr formulated::Config paper{.s = 11, .d_model = 8, .d_ff = 16, .d_k = 4, .d_v = 4, .h = 2, .N = 2, .max_len = 7};
static_assert(autoregressive<formulated::Transformer<paper>> && !autoregressive<formulated::Encoder<paper, float>>);
constexpr numpy::Config notebook{.src_vocab_size = 11, .tgt_vocab_size = 12};
static_assert(autoregressive<numpy::Transformer<notebook>> && !autoregressive<numpy::Encoder<notebook, float>>);
constexpr wolfram::Config of_wolfram{.src_vocab_size = 9, .tgt_vocab_size = 9};
static_assert(autoregressive<wolfram::Transformer<of_wolfram>>);
static_assert(!autoregressive<wolfram::EncoderBlock<of_wolfram, float>>, "without a mask every row sees all");
