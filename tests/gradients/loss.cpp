// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "../../proofs/support.hpp"
#include "../loss_gradient.hpp"

namespace tlm::tests::in_loss {

using proofs::must_hold;

namespace {

/// A model of random weights, and a batch in which the first position of the target counts for nothing.
template <Block block>
struct Drawn {
  Generator generator{1};
  SmallLM<block> model = random_layer<SmallLM<block>>(generator);
  Batch<double> batch = random_batch(2, unequal(), generator);

  Drawn() { batch.omega(0, 0) = 0; }
};

/// Requires that the gradient by an objective is the derivative.
template <class Model, class BatchOf, class Objective>
void must_be_derivative(Model& model, const BatchOf& batch, const Objective& objective) {
  must_hold(loss_gradient_fails(value_and_gradient(model, batch, objective).gradient, model, batch, objective));
}

}  // namespace

TEST_CASE("the gradient of each objective of T_LM, in every weight") {
  auto [_, model, batch] = Drawn<Block::definition>{};
  must_be_derivative(model, batch, Mean{});
  must_be_derivative(model, batch, Sum{});
  must_be_derivative(model, batch, DividedBy<double>{100});
  must_be_derivative(model, batch, Smoothed<Mean>{0.3});
  must_be_derivative(model, micro_batches(batch, 2), Smoothed<Sum>{0.3});
}

TEST_CASE("the gradient of the loss of the inspirational T_LM, in every weight") {
  Drawn<Block::inspirational> drawn;
  must_be_derivative(drawn.model, drawn.batch, Mean{});
}

}  // namespace tlm::tests::in_loss
