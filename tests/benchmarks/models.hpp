// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <tlm/all.hpp>

/// What the benchmarks measure.
namespace models {

/// Example 0 of the article's notebook, which reverses 2 of 10 tokens: 6 tokens a sequence.
inline constexpr tlm::Config example_0{
    .vocab_size = 11, .d_model = 128, .d_ff = 256, .n_layers = 2, .n_heads = 2, .max_len = 7};

/// As wide as the base model of "Attention Is All You Need".
inline constexpr tlm::Config wide{
    .vocab_size = 256, .d_model = 512, .d_ff = 2048, .n_layers = 6, .n_heads = 8, .max_len = 1025};

/// As deep, and a quarter as wide: that of the program which learns a text is of this kind.
inline constexpr tlm::Config narrow{
    .vocab_size = 256, .d_model = 128, .d_ff = 512, .n_layers = 6, .n_heads = 4, .max_len = 257};

/// A small one, which generates long texts.
inline constexpr tlm::Config saying{
    .vocab_size = 256, .d_model = 128, .d_ff = 512, .n_layers = 2, .n_heads = 2, .max_len = 2049};

/// The Wolfram article's model, six and six blocks, as ./examples/run translate learns sentences with it.
inline constexpr tlm::wolfram::Config translator{.src_vocab_size = 2048, .tgt_vocab_size = 2048, .max_len = 128};

/// Sequences of one length of tokens at random.
inline tlm::Tokens random_tokens(std::size_t count, std::size_t length, std::size_t vocab_size,
                                 tlm::Generator& generator) {
  tlm::Tokens x{tlm::Sequences::of_lengths(std::vector<std::size_t>(count, length))};
  for (std::size_t i = 0; i < x.rows(); ++i) x(i, 0) = generator.integer(0, int(vocab_size) - 1);
  return x;
}

/// What a model learns from: this many sequences of one length.
template <tlm::Config c>
tlm::Batch<> random_batch(const tlm::TransformerLM<c>&, std::size_t count, std::size_t length) {
  tlm::Generator generator{1};
  return tlm::unweighted(0, random_tokens(count, length, c.vocab_size, generator));
}

/// The same for the Wolfram article's model, which reads its pairs of sequences with noise, as in training.
template <tlm::wolfram::Config c>
tlm::Noisy<tlm::Translations> random_batch(const tlm::wolfram::Transformer<c>& model, std::size_t count,
                                           std::size_t length) {
  tlm::Generator generator{1};
  const auto drawn = [&](std::size_t vocab_size) { return random_tokens(count, length, vocab_size, generator); };
  return {{drawn(c.src_vocab_size), drawn(c.tgt_vocab_size)}, tlm::Noise{model, 1, 1}};
}

/// A model with weights at random.
template <class Model>
std::unique_ptr<Model> random_model(tlm::Generator& generator) {
  auto model = std::make_unique<Model>();
  tlm::initialize_uniform(*model, generator);
  return model;
}

}  // namespace models
