// SPDX-License-Identifier: MIT
// Trains T_LM on any text file, and lets it continue texts. Measures in bits per byte how well it predicts the last
// tenth of the text, which it has not seen.

#include <examples/shared/command_line.hpp>

#include "options.hpp"

int main(int argc, char** argv) {
  program::CommandLine line{"text",
                            "Trains the Transformer Language Model on a text file, lets it write on, and measures it."};
  Options options;
  program::Command training =
      line.add_command("train", "Learns a text but for its last tenth, and saves what it learned");
  training.add_text("text", options.text, "FILE", program::with_standard("The text", options.text));
  training.add_settings(options.settings, "windows", {"text"});
  program::Command sampling = line.add_command("sample", "Continues a text");
  sampling.add_text("beginning", options.prompt, "TEXT", "The beginning; none if it is left out");
  sampling.add_model(options.settings);
  sampling.add_integer("--tokens", options.tokens, 1, 1'000'000,
                       program::with_standard("How many tokens to write", options.tokens));
  sampling.add_positive("--temperature", options.temperature,
                        program::with_standard("Less is more certain", options.temperature));
  sampling.add_integer("--top-k", options.top_k, 1, vocab_size, "Only the likeliest tokens (all)");
  sampling.add_positive("--top-p", options.top_p, "Only the likeliest that have this probability together (1)", 1);
  sampling.add_seed(options.settings);
  program::Command testing = line.add_command("evaluate", "Measures the model on the last tenth, beside other means");
  testing.add_model(options.settings);
  testing.add_other_data(options.settings);
  return line.run(argc, argv, [&] {
    if (training.is_given()) train(options);
    if (sampling.is_given()) sample(options);
    if (testing.is_given()) evaluate(options);
  });
}
