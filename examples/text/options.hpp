// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include <examples/shared/settings.hpp>

/// The maximum number of tokens.
inline constexpr std::size_t vocab_size = 512;

/// The options of `text`.
struct Options {
  program::Settings settings{.model = "text.safetensors", .steps = 2400, .learning_rate = 0.002};
  std::string text = "/usr/share/common-licenses/GPL-3";
  std::size_t tokens = 200;
  double temperature = 0.8, top_p = 1;
  std::size_t top_k = vocab_size;
  std::string prompt;
};

/// Trains a model on a text without its last tenth, and saves the model.
void train(Options options);
/// Continues the prompt, and prints the text.
void sample(const Options& options);
/// Prints how well the model predicts the last tenth of its text, in bits per byte, beside other methods.
void evaluate(const Options& options);
