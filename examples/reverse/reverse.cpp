// SPDX-License-Identifier: MIT
// Trains the article's Transformer Language Model on the article's task: to reverse the order of the tokens of a
// sequence. Then the model answers what the user asks, and is tested on every sequence of the task.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <examples/shared/command_line.hpp>
#include <examples/shared/program.hpp>
#include <examples/shared/ranks.hpp>
#include <examples/shared/settings.hpp>
#include <examples/shared/walk.hpp>
#include <tlm/tlm.hpp>

#include "model.hpp"

namespace {

/// The options of `reverse`. Options that are not given are those of the notebook's example.
struct Options : program::TrainingOptions {
  Options() : TrainingOptions{.batch_size = 4} {}

  int example = 0;
  tlm::Block block = tlm::Block::definition;
  enum class Optimizer { sgd, adam } optimizer = Optimizer::adam;
  enum class Init { uniform, sinusoidal } init = Init::uniform;
  std::optional<std::size_t> steps;
  std::vector<std::string> asked;
  std::string record;
};

/// The model's answers to sequences of the task.
template <class Model>
std::vector<program::Answer> answers(const Model& model, const std::vector<std::vector<tlm::Token>>& sequences) {
  std::vector<std::vector<tlm::Token>> questions;
  for (const auto& tokens : sequences) questions.push_back(tlm::Reversal::question(tokens));
  const auto said =
      tlm::decode_all(model, questions, {tlm::Reversal::separator, tlm::Reversal::separator, Model::config.max_len});
  std::vector<program::Answer> answers;
  for (std::size_t k = 0; k < said.size(); ++k)
    answers.push_back({questions[k], said[k], tlm::Reversal::solved(sequences[k])});
  return answers;
}

/// Trains the model of an example, lets it answer, and tests it on every sequence of the task.
template <Example e, tlm::Block block>
void train_and_test(const Options& options) {
  using Model = ModelOf<e, block>;
  const tlm::Reversal task{e.n_tokens, e.min_length, e.max_length};
  const auto asked = program::questions(options.asked, 1, e.n_tokens, e.min_length, e.max_length);
  const std::size_t steps = options.steps.value_or(e.steps);
  program::Record record{options.record, steps};
  tlm::Generator generator{options.seed};

  auto model = std::make_unique<Model>();
  tlm::initialize_uniform(*model, generator);
  if (options.init == Options::Init::sinusoidal) {
    tlm::weight<"PE.PE">(*model) = tlm::PositionalEncoding<Model::config.max_len, Model::config.d_model>::sinusoidal();
  }

  if (!options.quiet)
    std::cout << "Example " << options.example << ": to reverse " << program::spelled(e.min_length, e.max_length)
              << " of " << e.n_tokens << " tokens\n"
              << "T_LM with vocab_size " << Model::config.vocab_size << ", d_model " << Model::config.d_model
              << ", d_ff " << Model::config.d_ff << ", n_layers " << Model::config.n_layers << ", n_heads "
              << Model::config.n_heads << ", max_len " << Model::config.max_len << ", "
              << (block == tlm::Block::definition ? "decoder block by the definition" : "inspirational decoder block")
              << ": " << tlm::parameter_count<Model> << " weights\n"
              << steps << " steps of " << (options.optimizer == Options::Optimizer::sgd ? "SGD" : "Adam")
              << " with learning rate " << options.learning_rate << ", batches of " << options.batch_size << ", seed "
              << options.seed << '\n';

  std::function<void(Model&, const Model&)> optimizer = tlm::SGD{options.learning_rate};
  if (options.optimizer == Options::Optimizer::adam) optimizer = tlm::Adam<Model>{options.learning_rate};
  program::ProgressReport report{steps, options.quiet, record};
  program::Workers<Model> workers{options.threads};
  tlm::train(
      *model, optimizer,
      [&] {
        return tlm::SharedBatch{workers, task.batch(options.batch_size, generator)};
      },
      steps, report);
  program::print_asked(answers(*model, asked));
  const auto tested = answers(*model, task.all());
  if (record.wanted()) {
    record.say("program", "reverse");
    record.say("example", std::uint64_t(options.example));
    record.say("model", "T_LM");
    record.say("block", block == tlm::Block::definition ? "definition" : "inspirational");
    record.say("optimizer", options.optimizer == Options::Optimizer::sgd ? "SGD" : "Adam");
    record.say("learning_rate", options.learning_rate);
    record.say("batch_size", options.batch_size);
    record.say("seed", options.seed);
    record_answers(record, tested);
    // The longest question, with as many different tokens as possible, and its answer, as the model reads them.
    std::vector<tlm::Token> tokens;
    for (int i = 0; i < e.max_length; ++i) tokens.push_back(1 + i % e.n_tokens);
    std::vector<tlm::Token> read = tlm::Reversal::solved(tokens);
    read.insert(read.begin(), tlm::Reversal::separator);
    read.pop_back();
    const auto keep = [&](const std::string& layer, const auto& A) {
      record.attention(layer, A, program::labels(read), program::labels(read));
    };
    program::Walk{keep}("", *model, tlm::Tokens{read});
    record.write();
  }
  program::print_answers(tested, options.quiet);
}

/// The same with the decoder block of the options.
template <Example e>
void run(const Options& options) {
  if (options.block == tlm::Block::definition)
    train_and_test<e, tlm::Block::definition>(options);
  else
    train_and_test<e, tlm::Block::inspirational>(options);
}

}  // namespace

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
    if (options.example == 0) run<examples[0]>(options);
    if (options.example == 1) run<examples[1]>(options);
    if (options.example == 2) run<examples[2]>(options);
  });
}
