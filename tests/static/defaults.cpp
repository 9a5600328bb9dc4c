// SPDX-License-Identifier: MIT
// The default values of a model are those of its source.
#include <tlm/all.hpp>

using namespace tlm;

constexpr Config article{.vocab_size = 0,
                         .d_model = 512,
                         .d_ff = 2048,
                         .n_layers = 6,
                         .n_heads = 8,
                         .max_len = 2048,
                         .block = Block::definition};
static_assert(Config{} == article, "T_LM's parameters are the article's");

constexpr formulated::Config paper{
    .s = 0, .d_model = 512, .d_ff = 2048, .d_k = 64, .d_v = 64, .h = 8, .N = 6, .max_len = 512};
static_assert(formulated::Config{} == paper, "the formulated Transformer's parameters are the paper's");

constexpr numpy::Config notebook{
    .src_vocab_size = 0, .tgt_vocab_size = 0, .D = 4, .M = 3, .h = 5, .n_enc = 2, .n_dec = 2, .d_ff = 4, .max_len = 64};
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
