// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

#include <tlm/algebra/weights.hpp>
#include <tlm/training/loss.hpp>

// Optimisation is the program's to choose: no dependency brings it along, and Meson and CMake begin without it. This is
// a note, which stops no compiler that takes warnings for errors; with TLM_QUIET it is not printed.
#if !defined(__OPTIMIZE__) && !defined(TLM_QUIET)
#pragma message("tlm: without optimisation a small model trains about 30 times as slowly: use -O3, or -DTLM_QUIET")
#endif

namespace tlm {

/// What the training loop reports after a step.
struct Progress {
  std::size_t step;  ///< Steps done so far, from 1.
  double loss;       ///< The loss of this step's batch, before the step.
};

/// What the callback of the training loop answers.
enum class Continue { no, yes };

/// At most `steps` times: takes the next batch of the stream, computes the gradient of its loss, lets the optimizer
/// move the weights, and reports. Returns the number of steps done.
///
///   next_batch() → Batch<Real> or Translations;   optimizer(model, gradient);   report(Progress) → Continue
///
/// Throws what loss throws, and std::runtime_error for a loss that is infinite or not a number; the model then is as
/// after the last complete step.
template <class T, class Optimizer, class Stream, class Report, class Objective = Mean>
std::size_t train(T& model, Optimizer& optimizer, Stream&& next_batch, std::size_t steps, Report&& report,
                  const Objective& objective = {}) {
  T gradient;
  for (std::size_t step = 1; step <= steps; ++step) {
    set_to_zero(gradient);
    const double loss = double(loss_and_gradient(model, next_batch(), gradient, objective));
    if (!std::isfinite(loss))
      throw std::runtime_error("the loss of step " + std::to_string(step) + " is " +
                               (std::isnan(loss) ? "not a number" : "infinite") +
                               ": the weights have grown too large, as they do by too large a learning rate");
    optimizer(model, gradient);
    if (report(Progress{step, loss}) == Continue::no) return step;
  }
  return steps;
}

}  // namespace tlm
