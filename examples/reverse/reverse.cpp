// SPDX-License-Identifier: MIT
// Trains the article's Transformer Language Model on the article's task: to reverse the order of the tokens of a
// sequence. Then the model answers what the user asks, and is tested on every sequence of the task.

#include <examples/shared/command_line.hpp>

#include "options.hpp"

int main(int argc, char** argv) {
  program::CommandLine line{"reverse",
                            "Trains the Transformer Language Model to reverse sequences, and tests every one."};
  Options options;
  line.add_integer("--example", options.example, 0, 2, "The notebook's example (0)");
  line.add_choice("--block", options.block,
                  {{"definition", tlm::Block::definition}, {"inspirational", tlm::Block::inspirational}},
                  "The decoder block (definition)");
  line.add_choice("--optimizer", options.optimizer,
                  {{"adam", Options::Optimizer::adam}, {"sgd", Options::Optimizer::sgd}}, "The optimizer (adam)");
  line.add_integer("--steps", options.steps, 0, program::a_billion, "The number of steps (6000; 16000 for example 2)");
  line.add_choice("--init", options.init,
                  {{"uniform", Options::Init::uniform}, {"sinusoidal", Options::Init::sinusoidal}},
                  "The initial weights of PE (uniform)");
  line.add_training_options(options);
  line.add_ask(options.asked,
               "A sequence to reverse after training: 2 of the tokens 1 to 10; 2 to 3 of 1 to 3 in example 1, "
               "2 to 4 of 1 to 4 in example 2");
  line.add_record(options.record);
  return line.run(argc, argv, [&] {
    if (options.example == 0) run<0>(options);
    if (options.example == 1) run<1>(options);
    if (options.example == 2) run<2>(options);
  });
}
