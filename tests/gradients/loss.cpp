// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "../loss_gradient.hpp"

namespace tlm::tests::in_loss {

namespace {

/// A model of random weights, and a batch in which the first position of the target counts for nothing.
template <Block block>
struct Drawn {
  Generator generator{1};
  SmallLM<block> model = random_layer<SmallLM<block>>(generator);
  Batch<double> batch = random_batch(2, unequal(), generator);

  Drawn() { batch.omega(0, 0) = 0; }
};

}  // namespace

TEST_CASE("the gradient of each objective of T_LM, in every weight") {
  auto [_, model, batch] = Drawn<Block::definition>{};
  must_be_derivative(model, batch);
  must_be_derivative(model, batch, Sum{});
  must_be_derivative(model, batch, DividedBy<double>{100});
  must_be_derivative(model, batch, Smoothed<Mean>{0.3});
  must_be_derivative(model, micro_batches(batch, 2), Smoothed<Sum>{0.3});
}

TEST_CASE("the gradient of the loss of the inspirational T_LM, in every weight") {
  Drawn<Block::inspirational> drawn;
  must_be_derivative(drawn.model, drawn.batch);
}

}  // namespace tlm::tests::in_loss
