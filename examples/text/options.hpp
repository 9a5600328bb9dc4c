// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include <examples/shared/settings.hpp>

/// The tokens that there are at the most.
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

/// Trains a model on a text but for its last tenth, and saves it.
void train(Options options);
/// Writes on behind the prompt, and prints it.
void sample(const Options& options);
/// Prints in bits per byte how well the model foresees the last tenth of its text, beside other means.
void evaluate(const Options& options);
