// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <tlm/base/generator.hpp>
#include <tlm/storage/safetensors.hpp>
#include <tlm/training/optimizers.hpp>
#include <tlm/training/patience.hpp>

namespace tlm {

/// The state of a training run. A run that goes on from an equal object does the same, bit for bit. It needs the same
/// data, the same numbers of the optimizer, the objective and the noise, the same parts (threads, ranks, MicroBatches), and
/// a machine of the same kind. The program counts step and place.
template <class Model, class Optimizer = Adam<Model>>
struct TrainingRun {
  Model model{};
  Optimizer optimizer{};
  Patience<Model> patience{};
  Generator generator;
  std::uint64_t step = 0;   ///< The number of steps done.
  std::uint64_t place = 0;  ///< Where the next batch is in the data, as the program counts.
  std::string tokenizer{};  ///< The tokenizer as a text, such as the list of a BytePairs; empty if there is none.
};

}  // namespace tlm

/// Checkpoints: a training run in one file. A resumed run goes on as if it had not been interrupted.
namespace tlm::storage {

/// Adds the state of an optimizer to a list. SGD has none. Adam has its moments, adam.m.PATH and adam.v.PATH, and the
/// number of its steps, adam.t. Scheduled adds the number of its own steps, schedule.t. Clipped has the state of what
/// it wraps. The rates are not kept: the program chooses them. The optimizer must outlive the list. Your own optimizer
/// needs a function of this name beside it.
template <class Byte>
void add_optimizer(std::vector<NamedNumbers<Byte>>&, const SGD&) {}
template <class Byte, class OfLayer>
requires requires(OfLayer adam) { adam.first_moment; }
void add_optimizer(std::vector<NamedNumbers<Byte>>& list, OfLayer& adam) {
  add_weights(list, adam.first_moment, "adam.m.");
  add_weights(list, adam.second_moment, "adam.v.");
  add_number(list, "adam.t", adam.t);
}
template <class Byte, class Around>
requires requires(Around around) { around.optimizer; }
void add_optimizer(std::vector<NamedNumbers<Byte>>& list, Around& around) {
  add_optimizer(list, around.optimizer);
  if constexpr (requires { around.schedule; }) add_number(list, "schedule.t", around.t);
}

/// Adds a training run to a list: the weights by their paths, the states of the optimizer, the patience and the
/// generator, and the numbers step and place. The patience has its best weights, best.PATH, and its limit is not kept:
/// the program chooses it. The run and the state of its generator must outlive the list.
template <class Byte, class Run, class State>
void add_run(std::vector<NamedNumbers<Byte>>& list, Run& run, State& state) {
  add_weights(list, run.model);
  add_optimizer(list, run.optimizer);
  add_weights(list, run.patience.best, "best.");
  add_number(list, "patience.least", run.patience.least);
  add_number(list, "patience.since", run.patience.since);
  add_number(list, "generator.seed", state.seed);
  add_number(list, "generator.drawn", state.drawn);
  add_number(list, "step", run.step);
  add_number(list, "place", run.place);
}

/// Writes a training run, with its tokenizer in the metadata, to a file that is replaced whole or not at all
/// (AtomicFile). `configuration` holds what must be the same on resuming and is not in the run: the shape of the model
/// beyond its paths, the rates of the optimizer, and the objective. Its words are the program's own, except "tokenizer",
/// "format" and "tlm_version". Throws like write.
template <class Model, class Optimizer>
void save_run(const std::filesystem::path& path, const TrainingRun<Model, Optimizer>& run, Metadata configuration = {},
              Existing existing = Existing::replaced) {
  std::vector<Tensor> list;
  add_run(list, run, run.generator.state());
  add_text(configuration, "tokenizer", run.tokenizer);
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
  add_number(of_generator, "generator.seed", state.seed);
  add_number(of_generator, "generator.drawn", state.drawn);
  file.require_nothing_but(list);
  file.read(of_generator);
  const Generator generator{state};
  file.read(list);  // all of it or nothing
  run.generator = generator;
  run.tokenizer = std::move(tokenizer);
}

/// Reads what you need to use the model of a training run: the weights with the least validation loss, or the last ones
/// if no validation loss was finite. Returns the tokenizer as a text. Throws like load_run, and then leaves the model as it
/// was.
template <class Model>
std::string load_best(const std::filesystem::path& path, Model& model, const Metadata& configuration = {}) {
  const SafetensorsFile file{path};
  file.require_no_newer_version();
  file.require_metadata(configuration);
  std::string tokenizer = file.text("tokenizer");
  double least = 0;
  std::vector<Place> of_patience, of_best, list;
  add_number(of_patience, "patience.least", least);
  add_weights(of_best, model, "best.");
  file.require_nothing_but(of_best, "best.");
  file.read(of_patience);
  add_weights(list, model, least < std::numeric_limits<double>::infinity() ? "best." : "");
  file.read(list);
  return tokenizer;
}

}  // namespace tlm::storage
