// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <tlm/base/generator.hpp>
#include <tlm/training/optimizers.hpp>
#include <tlm/training/patience.hpp>

namespace tlm {

/// The state of a training run. A run that goes on from an equal object does the same, bit for bit. It needs the same
/// data, and the same numbers of the optimizer and the objective. tlm/storage/checkpoint.hpp keeps it in a file. The
/// program counts step and place.
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
