// SPDX-License-Identifier: MIT
// Trains the article's Transformer Language Model on the article's task: to reverse the order of the tokens of a
// sequence. Then the model answers what the user asks, and is tested on every sequence of the task.

#include <examples/shared/command_line.hpp>

#include "options.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Trains the Transformer Language Model to reverse sequences, and tests every one.", "reverse"};
  Options options;
  program::add_integer(app, "--example", options.example, 0, 2, "The notebook's example (0)");
  program::add_choice(app, "--block", options.block,
                      {{"definition", tlm::Block::definition}, {"inspirational", tlm::Block::inspirational}},
                      "The decoder block (definition)");
  program::add_choice(app, "--optimizer", options.optimizer,
                      {{"adam", Options::Optimizer::adam}, {"sgd", Options::Optimizer::sgd}}, "The optimizer (adam)");
  program::add_integer(app, "--steps", options.steps, 0, program::a_billion,
                       "The number of steps (6000; 16000 for example 2)");
  program::add_choice(app, "--init", options.init,
                      {{"uniform", Options::Init::uniform}, {"sinusoidal", Options::Init::sinusoidal}},
                      "The initial weights of PE (uniform)");
  program::add_training_options(app, options);
  program::add_ask(app, options.asked,
                   "A sequence to reverse after training: 2 of the tokens 1 to 10; 2 to 3 of 1 to 3 in example 1, "
                   "2 to 4 of 1 to 4 in example 2");
  program::add_record(app, options.record);
  return program::main(app, argc, argv, [&] {
    if (options.example == 0) run<0>(options);
    if (options.example == 1) run<1>(options);
    if (options.example == 2) run<2>(options);
  });
}
