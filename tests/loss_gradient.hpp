// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include <tlm/checking/gradients.hpp>

#include "../proofs/support.hpp"
#include "layers.hpp"

namespace tlm::tests {

/// How a gradient of a model's loss differs from central differences of the loss, weight by weight, or nothing. The
/// weights are moved, and are in the end what they were.
template <class Model, class BatchOf, class Objective = Mean>
std::optional<Failure> loss_gradient_fails(Model gradient, Model& model, const BatchOf& batch,
                                           const Objective& objective = {}) {
  return checking::derivatives_differ(
      {.claim = "the gradient of the loss agrees with differences", .layer = name_of<Model>(), .arithmetic = "double"},
      [&] { return loss(model, batch, objective); }, checking::named_weights(model), checking::named_weights(gradient));
}

/// Requires that loss_and_gradient returns the loss, and that its gradient is the derivative, weight by weight.
template <class Model, class BatchOf, class Objective = Mean>
void must_be_derivative(Model& model, const BatchOf& batch, const Objective& objective = {}) {
  Model gradient;
  CHECK(loss_and_gradient(model, batch, gradient, objective) == loss(model, batch, objective));
  proofs::must_hold(loss_gradient_fails(gradient, model, batch, objective));
}

}  // namespace tlm::tests
