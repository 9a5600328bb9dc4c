// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "task.hpp"

/// The options of `seq2seq`.
struct Options {
  enum class Model { numpy, formulated } model = Model::numpy;
  Task::Kind task = Task::Kind::reverse;
  double learning_rate = 0.001;
  std::size_t steps = 2'000;
  std::size_t batch_size = 32;
  std::uint64_t seed = 1;
  std::vector<std::string> asked;
  std::string record;
  bool quiet = false;
};

/// Trains the NumPy notebook's model, and tests it on the held-out sequences.
void run_numpy(const Options& options);
/// Trains The Formulated Transformer, and tests it on the held-out sequences.
void run_formulated(const Options& options);
