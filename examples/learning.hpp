// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <examples/program.hpp>
#include <tlm/storage/checkpoint.hpp>
#include <tlm/training/schedules.hpp>
#include <tlm/training/train.hpp>

/// What the programs that learn from text, and may take minutes, have in common: a run that is kept in a file, evaluated now
/// and then, stopped by Ctrl-C and resumed.
namespace program {

/// Adam, its rate by a cosine behind a line, its gradients no longer than 1.
template <class Model>
using Optimizer = tlm::Clipped<tlm::Scheduled<tlm::Adam<Model>, tlm::Cosine>>;

/// A run of training, and all that its file is to say.
template <class Model>
struct Learning {
  tlm::TrainingRun<Model, Optimizer<Model>> run;
  std::filesystem::path path;
  tlm::storage::Metadata configuration;  ///< What the file says, and must say if it is resumed.
  std::uint64_t steps;                   ///< How many there are to be, with those that were done.
  std::uint64_t every;                   ///< How many steps there are between two evaluations.

  void save() const { tlm::storage::save_run(path, run, configuration); }
};

/// As in "2 min 5 s".
inline std::string duration(double seconds) {
  const auto whole = std::uint64_t(seconds + 0.5);
  return (whole < 60 ? "" : std::to_string(whole / 60) + " min ") + std::to_string(whole % 60) + " s";
}

/// Trains until the steps are done, the patience ends, or Ctrl-C.
///
///   next_batch() → what the model learns from;   tokens() → how many tokens that were, in all;
///   evaluate() → the validation loss, and prints what it likes below the line of progress.
///
/// The run is saved every minute, and at the end.
template <class Model, class NextBatch, class Tokens, class Evaluate>
void learn(Learning<Model>& learning, const NextBatch& next_batch, const Tokens& tokens, const Evaluate& evaluate) {
  using Clock = std::chrono::steady_clock;
  const Interruption interruption;
  auto& run = learning.run;
  const auto start = Clock::now();
  auto saved = start;
  const std::uint64_t first = run.step;
  double sum = 0;
  std::uint64_t losses = 0;
  bool patient = run.patience.since < run.patience.evaluations;
  if (!patient) throw std::invalid_argument("there is nothing to resume: the training ended when its patience did");
  if (run.step >= learning.steps)
    throw std::invalid_argument("there is nothing to resume: all " + std::to_string(learning.steps) +
                                " steps were done");
  tlm::train(run.model, run.optimizer, next_batch, std::size_t(learning.steps - first),
             [&](const tlm::Progress& progress) {
               ++run.step;
               sum += progress.loss;
               ++losses;
               if (run.step % learning.every == 0 || run.step == learning.steps) {
                 const auto [loss, more] = evaluate();
                 const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
                 std::ostringstream line;
                 line << "step " << run.step << " of " << learning.steps << std::fixed << std::setprecision(4)
                      << "   loss " << sum / double(losses) << ", held out " << loss << std::setprecision(0) << "   "
                      << double(tokens()) / seconds << " tokens/s   "
                      << duration(double(learning.steps - run.step) * seconds / double(run.step - first)) << " left";
                 std::cout << line.str() << '\n' << more << std::flush;
                 sum = 0, losses = 0;
                 patient = run.patience(run.model, loss) == tlm::Continue::yes;
               }
               if (Clock::now() - saved > std::chrono::minutes{1}) {
                 learning.save();
                 saved = Clock::now();
               }
               return patient && !Interruption::requested() ? tlm::Continue::yes : tlm::Continue::no;
             });
  learning.save();
  std::cout << "saved in " << learning.path.string() << " after "
            << duration(std::chrono::duration<double>(Clock::now() - start).count())
            << (Interruption::requested() ? ": --resume goes on from here"
                : patient                 ? ""
                                          : ": the loss on held-out data no longer falls, its least weights are kept")
            << '\n';
}

}  // namespace program
