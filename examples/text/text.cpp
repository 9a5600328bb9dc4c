// SPDX-License-Identifier: MIT
// Trains T_LM on any text file, and lets it continue texts. Measures in bits per byte how well it predicts the last
// tenth of the text, which it has not seen.

#include <string>

#include <examples/shared/command_line.hpp>

#include "options.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Trains the Transformer Language Model on a text file, lets it write on, and measures it.", "text"};
  app.require_subcommand(1);
  Options options;
  CLI::App& training = *app.add_subcommand("train", "Learns a text but for its last tenth, and saves what it learned");
  training.add_option("text", options.text, program::with_standard("The text", options.text))->type_name("FILE");
  program::add_settings(training, options.settings, "windows", {"text"});
  CLI::App& sampling = *app.add_subcommand("sample", "Continues a text");
  sampling.add_option("beginning", options.prompt, "The beginning; none if it is left out")->type_name("TEXT");
  program::add_model(sampling, options.settings);
  program::add_integer(sampling, "--tokens", options.tokens, 1, 1'000'000,
                       program::with_standard("How many tokens to write", options.tokens));
  program::add_positive(sampling, "--temperature", options.temperature,
                        program::with_standard("Less is more certain", options.temperature));
  program::add_integer(sampling, "--top-k", options.top_k, 1, vocab_size, "Only the likeliest tokens (all)");
  program::add_positive(sampling, "--top-p", options.top_p,
                        "Only the likeliest that have this probability together (1)", 1);
  program::add_seed(sampling, options.settings);
  CLI::App& testing = *app.add_subcommand("evaluate", "Measures the model on the last tenth, beside other means");
  program::add_model(testing, options.settings);
  program::add_other_data(testing, options.settings);
  return program::main(app, argc, argv, [&] {
    if (training.parsed()) train(options);
    if (sampling.parsed()) sample(options);
    if (testing.parsed()) evaluate(options);
  });
}
