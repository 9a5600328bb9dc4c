// Trains the article's Transformer Language Model on the article's task, to reverse the order of the tokens of a
// sequence, and tests it on every sequence of the task.

#include <examples/program.hpp>

#include "options.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Trains the Transformer Language Model to reverse sequences, and tests every one.", "reverse"};
  Options options;
  app.add_option("--example", options.example, "The notebook's example: 0, 1 or 2 (0)")->check(CLI::Range(0, 2));
  program::add_choice(app, "--block", options.block,
                      {{"definition", tlm::Block::definition}, {"inspirational", tlm::Block::inspirational}},
                      "The decoder block (definition)");
  program::add_choice(app, "--optimizer", options.optimizer,
                      {{"adam", Options::Optimizer::adam}, {"sgd", Options::Optimizer::sgd}}, "The optimizer (adam)");
  app.add_option("--learning-rate", options.learning_rate, "The learning rate (0.001)")->check(program::greater_than_0);
  app.add_option("--steps", options.steps, "The number of steps (6000; 16000 for example 2)")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1'000'000'000}));
  app.add_option("--batch-size", options.batch_size, "The number of sequences in a batch (4)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}));
  program::add_choice(app, "--init", options.init,
                      {{"uniform", Options::Init::uniform}, {"sinusoidal", Options::Init::sinusoidal}},
                      "The initial weights of PE (uniform)");
  app.add_option("--seed", options.seed, "Where random numbers start: data and initial weights follow from it (1)");
  app.add_flag("--quiet", options.quiet, "Print the success rate only");
  return program::main(app, argc, argv, [&] {
    if (options.example == 0) run<0>(options);
    if (options.example == 1) run<1>(options);
    if (options.example == 2) run<2>(options);
    return 0;
  });
}
