// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <examples/shared/settings.hpp>
#include <tlm/models/transformer_lm.hpp>

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

/// Trains and tests the model of one of the notebook's three examples.
template <int example>
void run(const Options& options);
