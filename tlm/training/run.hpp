// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <tlm/base/generator.hpp>
#include <tlm/training/optimizers.hpp>
#include <tlm/training/patience.hpp>

namespace tlm {

/// All that a run of training has come to. Whoever goes on from an equal one, with the same data and the same numbers of the
/// optimizer and the objective, does what this one would have done: tlm/storage/checkpoint.hpp keeps it in a file.
///
/// The library moves the model and the optimizer (train), the patience and the generator; step and place are the program's
/// to count.
template <class Model, class Optimizer = Adam<Model>>
struct TrainingRun {
  Model model{};
  Optimizer optimizer{};
  Patience<Model> patience{};
  Generator generator;
  std::uint64_t step = 0;   ///< How many steps were done.
  std::uint64_t place = 0;  ///< In the data: what is to be taken next, by whatever the program numbers.
  std::string tokenizer{};  ///< As a text, as the list of a BytePairs; empty if there is none.
};

}  // namespace tlm
