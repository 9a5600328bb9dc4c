// SPDX-License-Identifier: MIT
// Trains an encoder–decoder to copy or to reverse sequences of any length up to 8, with many lengths in one batch. Then
// the model answers what the user asks, and is tested on sequences that it has not seen.

#include <examples/shared/command_line.hpp>

#include "options.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Trains an encoder-decoder to copy or reverse sequences, and tests it on held-out ones.", "seq2seq"};
  Options options;
  program::add_choice(app, "--model", options.model,
                      {{"numpy", Options::Model::numpy}, {"formulated", Options::Model::formulated}},
                      "Which model (numpy)");
  program::add_choice(app, "--task", options.task, {{"copy", Task::Kind::copy}, {"reverse", Task::Kind::reverse}},
                      "What to learn (reverse)");
  program::add_training_options(app, options);
  program::add_integer(app, "--steps", options.steps, 0, program::a_billion,
                       program::with_standard("The number of steps", options.steps));
  program::add_ask(app, options.asked, "A sequence to copy or reverse after training: 1 to 8 of the tokens 3 to 12");
  program::add_record(app, options.record);
  return program::main(app, argc, argv,
                       [&] { options.model == Options::Model::numpy ? run_numpy(options) : run_formulated(options); });
}
