// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <tlm/checking/gradients.hpp>
#include <tlm/derivation/notation.hpp>

#include "../proofs/all_layers.hpp"
#include "../proofs/support.hpp"
#include "support.hpp"

/// The list of all layers is that of the proofs. Here are the shapes and models that single tests take from it, in
/// double.
namespace tlm::tests {

using proofs::d_ff;
using proofs::d_model;
using proofs::LayersInDouble;
using proofs::max_len;
using proofs::n_heads;
static_assert(vocab_size == proofs::vocab_size);

/// How the book writes a layer, for the failures of tests that run over several.
template <class F>
std::string name_of() {
  return equation<F>().empty() ? notation<F>().text : equation<F>();
}

/// Attention in blocks so small that short sequences already consist of several.
using BlockedHeads = proofs::H<double>;

/// A batch of random tokens, with weights from (0, 1].
inline Batch<double> random_batch(Token start, const Sequences& lengths, Generator& generator) {
  Batch<double> batch{start, random_rows<Tokens>(lengths, generator), Matrix<n, 1, double>{lengths}};
  for (std::size_t i = 0; i < lengths.rows(); ++i) batch.omega(i, 0) = 1 - generator.uniform();
  return batch;
}

/// How a gradient of a model's loss differs from central differences of the loss, weight by weight, or nothing. The
/// weights are moved, and are in the end what they were.
template <class Model, class BatchOf, class Objective = Mean>
std::optional<Failure> loss_gradient_fails(Model gradient, Model& model, const BatchOf& batch,
                                           const Objective& objective = {}) {
  return checking::derivatives_differ(
      {.claim = "the gradient of the loss agrees with differences", .layer = name_of<Model>(), .arithmetic = "double"},
      [&] { return loss(model, batch, objective); }, parameters(model), parameters(gradient));
}

/// Requires that loss_and_gradient returns the loss, and that its gradient is the derivative, weight by weight.
template <class Model, class BatchOf, class Objective = Mean>
void must_be_derivative(Model& model, const BatchOf& batch, const Objective& objective = {}) {
  Model gradient;
  CHECK(loss_and_gradient(model, batch, gradient, objective) == loss(model, batch, objective));
  proofs::must_hold(loss_gradient_fails(gradient, model, batch, objective));
}

/// T_LM with the article's block, or with the inspirational one.
template <Block block, class Real = double>
using SmallLM = TransformerLM<block == Block::definition ? proofs::small : proofs::small_inspirational, Real>;

}  // namespace tlm::tests
