// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <tlm/storage/run.hpp>
#include <tlm/storage/safetensors.hpp>

/// Checkpoints: a training run in one file. A resumed run goes on as if it had not been interrupted.
namespace tlm::storage {

/// Adds a training run to a list: the weights by their paths, the states of the optimizer, the patience and the
/// generator, and the numbers step and place. The run and the state of its generator must outlive the list.
template <class Byte, class Run, class State>
void add_run(std::vector<NamedNumbers<Byte>>& list, Run& run, State& state) {
  add_weights(list, run.model);
  add_optimizer(list, run.optimizer);
  add_patience(list, run.patience);
  add_generator(list, state);
  add_number(list, "step", run.step);
  add_number(list, "place", run.place);
}

/// Writes a training run, with its tokenizer in the metadata, to a file that is replaced whole or not at all
/// (AtomicFile). `configuration` holds what must be the same on resuming and is not in the run: the shape of the model
/// beyond its paths, the rates of the optimizer, and the objective. Its words are the program's own. Throws like write.
template <class Model, class Optimizer>
void save_run(const std::filesystem::path& path, const TrainingRun<Model, Optimizer>& run, Metadata configuration = {},
              Existing existing = Existing::replaced) {
  std::vector<Tensor> list;
  add_run(list, run, run.generator.state());
  configuration["tokenizer"] = run.tokenizer;
  write(path, std::move(list), std::move(configuration), existing);
}

/// Reads a training run from a file with the same model, optimizer and configuration, which was not written by a newer
/// version of the library. Otherwise the run stays as it was, and this throws what SafetensorsFile throws. It throws
/// std::invalid_argument for a generator that has drawn too much.
template <class Model, class Optimizer>
void load_run(const std::filesystem::path& path, TrainingRun<Model, Optimizer>& run,
              const Metadata& configuration = {}) {
  const SafetensorsFile file{path};
  file.require_no_newer_version();
  file.require_metadata(configuration);
  std::string tokenizer = file.text("tokenizer");
  Generator::State state{};
  std::vector<Place> list, of_generator;
  add_run(list, run, state);
  add_generator(of_generator, state);
  file.require_nothing_but(list);
  file.require(list);
  file.read(of_generator);
  Generator generator{state};
  file.read(list);
  run.generator = std::move(generator);
  run.tokenizer = std::move(tokenizer);
}

/// Reads what you need to use the model of a training run: the weights with the least validation loss, or the last ones
/// if there was no validation. Returns the tokenizer as a text. Throws like load_run, and then leaves the model as it
/// was.
template <class Model>
std::string load_best(const std::filesystem::path& path, Model& model, const Metadata& configuration = {}) {
  const SafetensorsFile file{path};
  file.require_no_newer_version();
  file.require_metadata(configuration);
  std::string tokenizer = file.text("tokenizer");
  double least = 0;
  std::vector<Place> of_patience, list;
  add_number(of_patience, "patience.least", least);
  file.read(of_patience);
  add_weights(list, model, std::isfinite(least) ? "best." : "");
  file.read(list);
  return tokenizer;
}

}  // namespace tlm::storage
