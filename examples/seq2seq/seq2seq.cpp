// SPDX-License-Identifier: MIT
// Trains an encoder–decoder to copy or to reverse sequences of any length up to 8, with many lengths in one batch. Then
// the model answers what the user asks, and is tested on sequences that it has not seen.

#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <examples/shared/command_line.hpp>
#include <examples/shared/program.hpp>
#include <examples/shared/ranks.hpp>
#include <examples/shared/settings.hpp>
#include <examples/shared/walk.hpp>
#include <tlm/all.hpp>

#include "task.hpp"

namespace {

/// The options of `seq2seq`.
struct Options : program::TrainingOptions {
  Options() : TrainingOptions{.batch_size = 32} {}

  enum class Model { numpy, formulated } model = Model::numpy;
  Task::Kind task = Task::Kind::reverse;
  std::size_t steps = 2'000;
  std::vector<std::string> asked;
  std::string record;
};

/// The model's answers to sources.
template <class Model, class Sources>
std::vector<program::Answer> answers(const Model& model, const Task& task, const Sources& sources) {
  const std::vector<std::vector<tlm::Token>> given(sources.begin(), sources.end());
  const auto said = tlm::decode_all(model, given, {Task::start, Task::end, Task::max_len});
  std::vector<program::Answer> answers;
  for (std::size_t k = 0; k < said.size(); ++k) answers.push_back({given[k], said[k], task.answer(given[k])});
  return answers;
}

/// Trains a model, lets it answer, and tests it on the held-out sequences.
template <class Model, class Objective>
void train_and_test(const Options& options, std::string_view name, const Objective& objective) {
  const auto asked =
      program::questions(options.asked, Task::first_symbol, Task::first_symbol + Task::symbols - 1, 1, Task::longest);
  program::Record record{options.record, options.steps};
  tlm::Generator generator{options.seed};
  Task task{options.task, generator};
  auto model = std::make_unique<Model>();
  tlm::initialize_glorot(*model, generator);

  if (!options.quiet)
    std::cout << "To " << (options.task == Task::Kind::copy ? "copy" : "reverse") << " 1 to " << Task::longest << " of "
              << Task::symbols << " symbols, " << task.held_out().size() << " sequences held out\n"
              << name << ": " << tlm::parameter_count<Model> << " weights\n"
              << options.steps << " steps of Adam with learning rate " << options.learning_rate << ", batches of "
              << options.batch_size << ", seed " << options.seed << '\n';

  tlm::Adam<Model> adam{options.learning_rate};
  program::ProgressReport report{options.steps, options.quiet, record};
  program::Workers<Model> workers{options.threads};
  tlm::train(
      *model, adam,
      [&] {
        return tlm::SharedBatch{workers, task.batch(options.batch_size)};
      },
      options.steps, report, objective);
  program::print_asked(answers(*model, task, asked));
  const auto tested = answers(*model, task, task.held_out());
  if (record.wanted()) {
    record.say("program", "seq2seq");
    record.say("model", std::string(name));
    record.say("task", options.task == Task::Kind::copy ? "copy" : "reverse");
    record.say("optimizer", "Adam");
    record.say("learning_rate", options.learning_rate);
    record.say("batch_size", options.batch_size);
    record.say("seed", options.seed);
    record_answers(record, tested);
    const Task::Sequence source{3, 5, 7, 9, 11, 4};
    Task::Sequence read = task.answer(source);
    read.insert(read.begin(), Task::start);
    read.pop_back();
    const auto keep = [&](const std::string& layer, const auto& A) {
      const bool from_source = A.keys().length(0) == source.size(), of_source = A.queries().length(0) == source.size();
      record.attention(layer, A, program::labels(of_source ? source : read),
                       program::labels(from_source ? source : read));
    };
    program::Walk{keep}("", *model,
                        tlm::SourceAndTarget<tlm::Tokens, tlm::Tokens>{tlm::Tokens{source}, tlm::Tokens{read}});
    record.write();
  }
  program::print_answers(tested, options.quiet);
}

/// The same of the NumPy notebook's model.
void run_numpy(const Options& options) {
  using Model = tlm::numpy::Transformer<tlm::numpy::Config{.src_vocab_size = Task::vocab_size,
                                                           .tgt_vocab_size = Task::vocab_size,
                                                           .D = 64,
                                                           .M = 16,
                                                           .h = 4,
                                                           .d_ff = 128,
                                                           .max_len = Task::max_len}>;
  train_and_test<Model>(options, "The NumPy notebook's Transformer with D 64, M 16, h 4, d_ff 128, 2+2 blocks",
                        tlm::Mean{});
}

/// And of The Formulated Transformer.
void run_formulated(const Options& options) {
  using Model = tlm::formulated::Transformer<tlm::formulated::Config{.s = Task::vocab_size,
                                                                     .d_model = 64,
                                                                     .d_ff = 128,
                                                                     .d_k = 16,
                                                                     .d_v = 16,
                                                                     .h = 4,
                                                                     .N = 2,
                                                                     .max_len = Task::max_len}>;
  train_and_test<Model>(options, "The Formulated Transformer with d_model 64, d_ff 128, d_k = d_v 16, h 4, N 2",
                        tlm::Sum{});
}

}  // namespace

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
