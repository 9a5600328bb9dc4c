// SPDX-License-Identifier: MIT
// How many weights each layer has, by the article's shapes.
#include <tlm/tlm.hpp>

using namespace tlm;

// Dimensions no two of which have the same product.
constexpr std::size_t vocab_size = 11, d_model = 6, d_ff = 35, n_layers = 3, n_heads = 2, max_len = 13;

// W_e: a row for each token. PE: one for each position.
constexpr std::size_t Em = vocab_size * d_model;
static_assert(weight_count<Embedding<vocab_size, d_model>> == Em);
constexpr std::size_t PE = max_len * d_model;
static_assert(weight_count<PositionalEncoding<max_len, d_model>> == PE);

// a and b.
constexpr std::size_t N = 2 * d_model;
static_assert(weight_count<Normalization<"N", d_model>> == N);

// Of the rows of B, K and L, which are identical, each one.
static_assert(weight_count<Times<"W", d_model, d_ff>> == d_model * d_ff);
static_assert(weight_count<Plus<"B", d_ff>> == d_ff);
static_assert(weight_count<ReLU<d_ff>> == 0);

// W_Q, W_K, W_V; with several heads also W_O and B, and always as many.
static_assert(weight_count<SingleHeadCausalAttention<d_model>> == 3 * d_model * d_model);
constexpr std::size_t CA = 4 * d_model * d_model + d_model;
static_assert(weight_count<CausalAttention<d_model, 1>> == CA);
static_assert(weight_count<CausalAttention<d_model, n_heads>> == CA);

// N_ff, A, K, B, L.
constexpr std::size_t FF = N + d_model * d_ff + d_ff + d_ff * d_model + d_model;
static_assert(weight_count<FeedForward<d_model, d_ff>> == FF);

// N_ca, CA, FF, in both blocks.
constexpr std::size_t DB = N + CA + FF;
static_assert(weight_count<DecoderBlock<d_model, d_ff, n_heads>> == DB);
static_assert(weight_count<InspirationalDecoderBlock<d_model, d_ff, n_heads>> == DB);
static_assert(weight_count<Res<FeedForward<d_model, d_ff>>> == FF);
static_assert(weight_count<Stack<DecoderBlock<d_model, d_ff, n_heads>, n_layers>> == n_layers * DB);

static_assert(weight_count<Concat<FeedForward<d_model, d_ff>, Times<"W", d_model, 4>>> == FF + 4 * d_model);

// Y and B.
constexpr std::size_t Phi = d_model * vocab_size + vocab_size;
static_assert(weight_count<FinalLayer<d_model, vocab_size>> == Phi);

constexpr Config config{.vocab_size = vocab_size,
                        .d_model = d_model,
                        .d_ff = d_ff,
                        .n_layers = n_layers,
                        .n_heads = n_heads,
                        .max_len = max_len};
static_assert(weight_count<TransformerLM<config>> == Em + PE + n_layers * DB + N + Phi);

// The notebook's Example 0.
constexpr Config example_0{.vocab_size = 11, .d_model = 128, .d_ff = 256, .n_layers = 2, .n_heads = 2, .max_len = 7};
static_assert(weight_count<TransformerLM<example_0>> == 268'171);
static_assert(weight_count<TransformerLM<example_0>> != weight_count<TransformerLM<config>>);

// "The Formulated Transformer" counts one W_e in three places, and no W_p.
static_assert(weight_count<formulated::Transformer<formulated::Config{.s = 37'000}>> == 63'045'632);
