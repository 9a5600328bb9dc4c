// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tlm/models/transformer_lm.hpp>

/// The options of `reverse`. What is not given is as in the notebook's example.
struct Options {
  int example = 0;
  tlm::Block block = tlm::Block::definition;
  enum class Optimizer { sgd, adam } optimizer = Optimizer::adam;
  enum class Init { uniform, sinusoidal } init = Init::uniform;
  double learning_rate = 0.001;
  std::optional<std::size_t> steps;
  std::size_t batch_size = 4;
  std::uint64_t seed = 1;
  std::vector<std::string> asked;
  std::string record;
  bool quiet = false;
};

/// Trains and tests the model of one of the notebook's three examples.
template <int example>
void run(const Options& options);
