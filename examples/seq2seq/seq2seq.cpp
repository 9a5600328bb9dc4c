// SPDX-License-Identifier: MIT
// Trains an encoder–decoder to copy or to reverse sequences of any length up to 8, with many lengths in one batch. Then
// the model answers what the user asks, and is tested on sequences that it has not seen.

#include <examples/shared/command_line.hpp>

#include "options.hpp"

int main(int argc, char** argv) {
  program::CommandLine line{"seq2seq",
                            "Trains an encoder-decoder to copy or reverse sequences, and tests it on held-out ones."};
  Options options;
  line.add_choice("--model", options.model,
                  {{"numpy", Options::Model::numpy}, {"formulated", Options::Model::formulated}},
                  "Which model (numpy)");
  line.add_choice("--task", options.task, {{"copy", Task::Kind::copy}, {"reverse", Task::Kind::reverse}},
                  "What to learn (reverse)");
  line.add_training_options(options);
  line.add_integer("--steps", options.steps, 0, program::a_billion,
                   program::with_standard("The number of steps", options.steps));
  line.add_ask(options.asked, "A sequence to copy or reverse after training: 1 to 8 of the tokens 3 to 12");
  line.add_record(options.record);
  return line.run(argc, argv,
                  [&] { options.model == Options::Model::numpy ? run_numpy(options) : run_formulated(options); });
}
