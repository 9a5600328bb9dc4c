// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>

#include <tlm/base/refuse.hpp>
#include <tlm/training/train.hpp>

namespace tlm {

/// Early stopping: keeps the weights with the least validation loss. It stops after a given number of evaluations in a
/// row without a better one.
///
///   Patience<Model> patience{.evaluations = 5};
///   … if (progress.step % 100 == 0) return patience(model, loss(model, held_out)); …
///   model = patience.best;
///
/// A loss is better if it is less. The first one counts as better, unless it is ∞ or not a number.
template <class Layer>
struct Patience {
  std::uint64_t evaluations;  ///< ≥ 1: training stops after this many without a better one.

  Layer best{};                                            ///< The weights with the least loss, 0 before there are any.
  double least = std::numeric_limits<double>::infinity();  ///< The least validation loss.
  std::uint64_t since = 0;                                 ///< The number of evaluations since then.

  /// Records the validation loss of a model, and returns whether to go on. Throws std::invalid_argument for a patience
  /// of 0 evaluations.
  Continue operator()(const Layer& model, double loss) {
    if (evaluations == 0)
      refuse<std::invalid_argument>({"a patience of 0 evaluations stops before the first: at least 1"});
    ++since;
    if (loss < least) {
      best = model;
      least = loss;
      since = 0;
    }
    return since < evaluations ? Continue::yes : Continue::no;
  }
};

}  // namespace tlm
