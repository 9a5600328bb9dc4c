// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <examples/shared/program.hpp>
#include <examples/shared/ranks.hpp>
#include <examples/shared/walk.hpp>
#include <tlm/tlm.hpp>

#include "model.hpp"
#include "options.hpp"

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

template <int example>
void run(const Options& options) {
  if (options.block == tlm::Block::definition)
    train_and_test<examples[example], tlm::Block::definition>(options);
  else
    train_and_test<examples[example], tlm::Block::inspirational>(options);
}
