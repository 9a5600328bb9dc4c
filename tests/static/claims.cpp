// What the compiler derives about operations, in pairs: this holds; that, for this reason, does not.
#include <tlm/tlm.hpp>

using namespace tlm;

// --- The rules, over leaves that are nothing but what they declare --------------------------------------------------

template <class Claim>
struct Declaring {
  using declared = Claim;
  using domain = Matrix<n, 3>;
  using codomain = domain;
};
using Rows = Declaring<is::Rowwise>;
using Past = Declaring<is::Autoregressive>;
using Same = Declaring<is::Constant>;
using Any = Declaring<is::Unrestricted>;
struct Silent {
  using domain = Matrix<n, 3>;
  using codomain = domain;
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

// Compositions are what all of their factors are. One factor is enough to lose it, wherever it stands.
static_assert(rowwise<Composition<Rows, Rows, Rows>>);
static_assert(!rowwise<Composition<Rows, Past, Rows>>);
static_assert(autoregressive<Composition<Rows, Past, Rows>>);
static_assert(!autoregressive<Composition<Any, Past, Rows>> && !autoregressive<Composition<Rows, Past, Any>>);
static_assert(rowwise<Composition<Rows>>);
static_assert(!rowwise<Composition<Past>>);

// X + F(X) is what F is.
static_assert(rowwise<Res<Rows>> && autoregressive<Res<Past>>);
static_assert(!rowwise<Res<Past>> && !autoregressive<Res<Any>>);

// So is F ∘ … ∘ F.
static_assert(rowwise<Stack<Rows, 2>> && autoregressive<Stack<Past, 2>>);
static_assert(!rowwise<Stack<Past, 2>> && !autoregressive<Stack<Any, 2>>);

// softmax(◺(Q×Kᵀ)) is a causal kernel if Q and K are autoregressive. Without ◺ it is none, and neither is any other
// operation, autoregressive or not.
template <class Mask, class Q, class K>
using Kernel = SoftmaxKernel<1, Mask, Q, K>;
static_assert(causal_kernel<Kernel<Causal, Rows, Past>>);
static_assert(!causal_kernel<Kernel<Causal, Any, Rows>> && !causal_kernel<Kernel<Causal, Rows, Any>>);
static_assert(!causal_kernel<Kernel<Unmasked, Rows, Rows>>);
static_assert(!causal_kernel<Rows> && !causal_kernel<Past>);

// The article's Claim: A(X)×B(X) is autoregressive if A is a causal kernel and B is autoregressive. It is not rowwise.
static_assert(autoregressive<KernelProduct<Kernel<Causal, Rows, Rows>, Past>>);
static_assert(!autoregressive<KernelProduct<Kernel<Causal, Rows, Rows>, Any>>);
static_assert(!autoregressive<KernelProduct<Kernel<Causal, Any, Rows>, Rows>>);
static_assert(!autoregressive<KernelProduct<Kernel<Unmasked, Rows, Rows>, Rows>>);
static_assert(!rowwise<KernelProduct<Kernel<Causal, Rows, Rows>, Rows>>);

// Without a mask it is, if keys and values do not depend on X: both of them.
static_assert(autoregressive<KernelProduct<Kernel<Unmasked, Rows, Same>, Same>>);
static_assert(!autoregressive<KernelProduct<Kernel<Unmasked, Rows, Same>, Rows>>);
static_assert(!autoregressive<KernelProduct<Kernel<Unmasked, Rows, Rows>, Same>>);
static_assert(!autoregressive<KernelProduct<Kernel<Unmasked, Any, Same>, Same>>);

// (x, y) ↦ D(y; E(x)) is autoregressive in y if D is; it does not matter what E is.
static_assert(autoregressive<EncoderDecoder<Any, Past>>);
static_assert(!autoregressive<EncoderDecoder<Past, Any>>);

// A name stands for its formula, whatever that is.
struct NamedPast : Composition<Rows, Past> {};
struct NamedAny : Res<Any> {};
struct NamedTwice : NamedPast {};
static_assert(autoregressive<NamedPast> && autoregressive<NamedTwice> && autoregressive<Composition<NamedPast, Rows>>);
static_assert(!rowwise<NamedPast> && !autoregressive<NamedAny>);

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

// PE is not rowwise, although the article says so: row i of X receives row i of PE, a row alone the first.
static_assert(autoregressive<PositionalEncoding<7, 8>>);
static_assert(!rowwise<PositionalEncoding<7, 8>>);

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
