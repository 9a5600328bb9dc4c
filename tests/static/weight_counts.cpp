// SPDX-License-Identifier: MIT
// How many weights each layer has, by the article's shapes, and that each has a path of its own. And that the default values of
// a model are those of its source.
#include <tlm/all.hpp>

using namespace tlm;

// Dimensions no two of which have the same product.
constexpr std::size_t vocab_size = 11, d_model = 6, d_ff = 35, n_layers = 3, n_heads = 2, max_len = 13;

// W_e: a row for each token. PE: one for each position.
constexpr std::size_t Em = vocab_size * d_model;
static_assert(parameter_count<Embedding<vocab_size, d_model>> == Em);
constexpr std::size_t PE = max_len * d_model;
static_assert(parameter_count<PositionalEncoding<max_len, d_model>> == PE);

// a and b.
constexpr std::size_t N = 2 * d_model;
static_assert(parameter_count<Normalization<"N", d_model>> == N);

// Of the rows of B, K and L, which are identical, each one.
static_assert(parameter_count<Times<"W", d_model, d_ff>> == d_model * d_ff);
static_assert(parameter_count<Plus<"B", d_ff>> == d_ff);
static_assert(parameter_count<ReLU<d_ff>> == 0);

// W_Q, W_K, W_V; with several heads also W_O and B, and always as many.
static_assert(parameter_count<SingleHeadCausalAttention<d_model>> == 3 * d_model * d_model);
constexpr std::size_t CA = 4 * d_model * d_model + d_model;
static_assert(parameter_count<CausalAttention<d_model, 1>> == CA);
static_assert(parameter_count<CausalAttention<d_model, n_heads>> == CA);

// N_ff, A, K, B, L.
constexpr std::size_t FF = N + d_model * d_ff + d_ff + d_ff * d_model + d_model;
static_assert(parameter_count<FeedForward<d_model, d_ff>> == FF);

// N_ca, CA, FF, in both blocks.
constexpr std::size_t DB = N + CA + FF;
static_assert(parameter_count<DecoderBlock<d_model, d_ff, n_heads>> == DB);
static_assert(parameter_count<InspirationalDecoderBlock<d_model, d_ff, n_heads>> == DB);
static_assert(parameter_count<Res<FeedForward<d_model, d_ff>>> == FF);
static_assert(parameter_count<Stack<DecoderBlock<d_model, d_ff, n_heads>, n_layers>> == n_layers * DB);

static_assert(parameter_count<Concat<FeedForward<d_model, d_ff>, Times<"W", d_model, 4>>> == FF + 4 * d_model);

// Y and B.
constexpr std::size_t Phi = d_model * vocab_size + vocab_size;
static_assert(parameter_count<FinalLayer<d_model, vocab_size>> == Phi);

constexpr Config config{.vocab_size = vocab_size,
                        .d_model = d_model,
                        .d_ff = d_ff,
                        .n_layers = n_layers,
                        .n_heads = n_heads,
                        .max_len = max_len};
static_assert(parameter_count<TransformerLM<config>> == Em + PE + n_layers * DB + N + Phi);

// The notebook's Example 0.
constexpr Config example_0{.vocab_size = 11, .d_model = 128, .d_ff = 256, .n_layers = 2, .n_heads = 2, .max_len = 7};
static_assert(parameter_count<TransformerLM<example_0>> == 268'171);

// The Wolfram article's model, where d = 128: derived from its program, which prints only 512 of these numbers.
namespace of_wolfram {
constexpr wolfram::Config c{.src_vocab_size = 50'257, .tgt_vocab_size = 50'257, .max_len = 128};
constexpr std::size_t d = c.d;
static_assert(parameter_count<wolfram::EncoderBlock<c, float>> == 12 * d * d + 13 * d &&
              12 * d * d + 13 * d == 198'272);
static_assert(parameter_count<wolfram::DecoderBlock<c, float>> == 16 * d * d + 19 * d &&
              16 * d * d + 19 * d == 264'576);
static_assert(parameter_count<Stack<wolfram::EncoderBlock<c, float>, 6>> +
                  parameter_count<Stack<wolfram::DecoderBlock<c, float>, 6>> ==
              2'777'088);
static_assert(parameter_count<wolfram::Transformer<c>> == 22'158'801);
// With sines the two tables of 128 positions are no weights.
constexpr wolfram::Config with_sines{
    .src_vocab_size = 50'257, .tgt_vocab_size = 50'257, .max_len = 128, .positions = wolfram::Positions::sinusoidal};
static_assert(parameter_count<wolfram::Transformer<with_sines>> == 22'158'801 - 2 * 128 * d);
// "the dimensions of output is (5, 64)": five tokens, embedded 64 wide. And n × 512 inside FF, 16 for each head.
constexpr wolfram::Config narrow{.src_vocab_size = 50'257, .tgt_vocab_size = 50'257, .d = 64};
static_assert(wolfram::EmbeddingBlock<narrow, narrow.src_vocab_size, float>::codomain::cols == 64);
static_assert(decltype(wolfram::FeedForward<c, float>{}.f.f)::codomain::cols == 512);
static_assert(detail::head_width<c.d, c.heads> == 16);
}  // namespace of_wolfram

// "The Formulated Transformer", "Parameters": each line of its table of counts, and the sum. W_e counts once for its three
// places, and W_p is not counted.
namespace of_formulated {
constexpr formulated::Config c{.s = 37'000};
constexpr std::size_t attention =
    c.h * (c.d_model * c.d_k + c.d_model * c.d_k + c.d_model * c.d_v) + c.h * c.d_v * c.d_model;
static_assert(parameter_count<formulated::NamedMultiHead<"H", c, Unmasked, FromItself, float>> == attention &&
              parameter_count<formulated::NamedMultiHead<"H", c, Causal, FromItself, float>> == attention &&
              parameter_count<formulated::NamedMultiHead<"H", c, Unmasked, FromMemory, float>> == attention);
constexpr std::size_t network = c.d_model * c.d_ff + c.d_ff + c.d_ff * c.d_model + c.d_model;
constexpr std::size_t norm = c.d_model + c.d_model;
constexpr std::size_t encoder = c.N * (attention + network + 2 * norm);
constexpr std::size_t decoder = c.N * (attention + attention + network + 3 * norm);
static_assert(parameter_count<formulated::Encoder<c, float>> == encoder);
static_assert(parameter_count<formulated::Decoder<c, float>> == decoder);
static_assert(c.s * c.d_model + encoder + decoder == 63'045'632);
static_assert(parameter_count<formulated::Transformer<c>> == 63'045'632);
}  // namespace of_formulated

// Layers of one type within a Stack, and the parts of whole models, have paths of their own.
static_assert(detail::PathsAreUnique<TransformerLM<config>>::value);
static_assert(detail::PathsAreUnique<Stack<CausalAttention<8, 2>, 12>>::value);
static_assert(detail::PathsAreUnique<formulated::Transformer<formulated::Config{.s = 11}>>::value);
static_assert(
    detail::PathsAreUnique<numpy::Transformer<numpy::Config{.src_vocab_size = 2, .tgt_vocab_size = 2}>>::value);

// The defaults.
constexpr Config article{
    .d_model = 512, .d_ff = 2048, .n_layers = 6, .n_heads = 8, .max_len = 2048, .block = Block::definition};
static_assert(Config{} == article, "T_LM's parameters are the article's");

constexpr formulated::Config paper{.d_model = 512, .d_ff = 2048, .d_k = 64, .d_v = 64, .h = 8, .N = 6, .max_len = 512};
static_assert(formulated::Config{} == paper, "the formulated Transformer's parameters are the paper's");

constexpr numpy::Config notebook{.D = 4, .M = 3, .h = 5, .n_enc = 2, .n_dec = 2, .d_ff = 4, .max_len = 64};
static_assert(numpy::Config{} == notebook, "the NumPy notebook's parameters are its example's");
static_assert(numpy::Config{.D = 7}.d_ff == 7, "the NumPy notebook's parameters are its example's: d_ff is D");

// They are what the models are made of.
static_assert(parameter_count<TransformerLM<Config{.vocab_size = 11}>> ==
              parameter_count<TransformerLM<Config{.vocab_size = 11, .d_ff = 2048, .n_layers = 6, .max_len = 2048}>>);
static_assert(TransformerLM<Config{.vocab_size = 11}>::config.n_heads == 8);

// Numbers are floats, attention has no bias and works in blocks of 32 rows.
static_assert(std::is_same_v<RealOf<TransformerLM<Config{.vocab_size = 11}>>, float>);
static_assert(std::is_same_v<RealOf<formulated::Transformer<formulated::Config{.s = 11}>>, float>);
static_assert(
    std::is_same_v<RealOf<numpy::Transformer<numpy::Config{.src_vocab_size = 11, .tgt_vocab_size = 11}>>, float>);
using Q = Times<"Q", 4, 4>;
using K = Times<"K", 4, 4>;
static_assert(std::is_same_v<Attention<2, Causal, Q, K, Q>, Attention<2, Causal, Q, K, Q, NoBias, 32>>);
