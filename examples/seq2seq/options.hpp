// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <examples/shared/settings.hpp>

#include "task.hpp"

/// The options of `seq2seq`.
struct Options : program::TrainingOptions {
  Options() : TrainingOptions{.batch_size = 32} {}

  enum class Model { numpy, formulated } model = Model::numpy;
  Task::Kind task = Task::Kind::reverse;
  std::size_t steps = 2'000;
  std::vector<std::string> asked;
  std::string record;
};

/// Trains the NumPy notebook's model, and tests it on the held-out sequences.
void run_numpy(const Options& options);
/// Trains The Formulated Transformer, and tests it on the held-out sequences.
void run_formulated(const Options& options);
