// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <stdexcept>

#include <tlm/algebra/parameters.hpp>
#include <tlm/base/optimisation.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/training/batch.hpp>

namespace tlm {

/// What the training loop reports after a step.
struct Progress {
  std::size_t step;  ///< Steps done so far, from 1.
  double loss;       ///< The loss of this step's batch, before the step.
};

/// What the callback of the training loop returns.
enum class Continue { no, yes };

/// Refuses to train a layer that was never initialized. Throws std::invalid_argument if every weight matrix is 0, and
/// so is the derivative with respect to each.
///
/// If all factors of a product are 0, its derivative with respect to each is 0, so no step leads away from there. A
/// single layer between tokens and scores learns from 0, and is not refused. Neither is a model if some of its matrices
/// are not 0.
template <class Layer>
void require_initialized(const Layer& layer, const Layer& gradient) {
  for (const Layer* const of : {&layer, &gradient})
    for (const auto& weight : parameters(*of))
      if (weight.role == Role::matrix)
        for (const auto& w : weight)
          if (!(w == RealOf<Layer>(0))) return;
  for (const auto& weight : parameters(layer))
    if (weight.role == Role::matrix)
      refuse<std::invalid_argument>(
          {"the weight matrices of the model, ", weight.path,
           " and all others, are 0, and so are the derivatives with respect to them: give them values first, by "
           "initialize_glorot(model, generator) or initialize_uniform(model, generator)"});
}

/// The training loop. At most `steps` times, it takes the next batch, computes the gradient of its loss, lets the
/// optimizer move the weights, and reports. Returns the number of steps done.
///
///   next_batch() → a Batch<Real>, Translations, or what is made of these: Noisy, MicroBatches, SharedBatch;
///   optimizer(model, gradient);   report(Progress) → Continue
///
/// Your own loop does the same. A step is
///
///   zero_grad(gradient);                                      // the gradients of the steps do not add up
///   const double loss = loss_and_gradient(model, batch, gradient);
///   if (loss > 0) require_initialized(model, gradient);         // refuses a model that cannot learn
///   optimizer(model, gradient);
///
/// Throws what next_batch, loss, optimizer and report throw. Throws std::invalid_argument if the weights were never
/// initialized (require_initialized, which looks up to the first number that is not 0). Throws std::runtime_error for a
/// loss that is infinite or not a number. The model is then as it was after the last complete step. (The gradient is not
/// looked at; Clipped does that.)
template <class T, class Optimizer, class Stream, class Report, class Objective = Mean>
std::size_t train(T& model, Optimizer& optimizer, Stream&& next_batch, std::size_t steps, Report&& report,
                  const Objective& objective = {}) {
  T gradient;
  for (std::size_t step = 1; step <= steps; ++step) {
    zero_grad(gradient);
    const double loss = double(loss_and_gradient(model, next_batch(), gradient, objective));
    if (!std::isfinite(loss))
      refuse<std::runtime_error>({"the loss of step ", step, " is ", std::isnan(loss) ? "not a number" : "infinite",
                                  ": the weights have grown too large, as they do with too large a learning rate"});
    // A batch whose loss weights are all 0 has neither loss nor gradient, whatever the weights are. A part of a batch
    // may be such.
    if (loss > 0) require_initialized(model, gradient);
    optimizer(model, gradient);
    if (report(Progress{step, loss}) == Continue::no) return step;
  }
  return steps;
}

}  // namespace tlm
