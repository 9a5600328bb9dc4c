// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>

#include "../../proofs/support.hpp"
#include "../layers.hpp"

namespace tlm::tests::in_loss {

using proofs::must_hold;

namespace {

/// The gradient of the loss in the weight space, compared with differences of the loss.
template <class T, class BatchOf, class Objective>
std::optional<Failure> loss_gradient_fails(std::string object, T model, const BatchOf& batch,
                                           const Objective& objective) {
  T gradient;
  loss_and_gradient(model, batch, gradient, objective);
  return checking::gradient_differs(
      std::move(object), [&] { return loss(model, batch, objective); }, model, gradient);
}

/// A model of random weights, and a batch in which the first position of the target counts for nothing.
template <Block block>
struct Drawn {
  Generator generator{1};
  SmallLM<block> model = random_layer<SmallLM<block>>(generator);
  Batch<double> batch{2, random_rows<Tokens>(unequal(), generator), Matrix<n, 1, double>{unequal()}};

  Drawn() {
    for (std::size_t i = 0; i < batch.x.rows(); ++i) batch.omega(i, 0) = generator.uniform();
    batch.omega(0, 0) = 0;
  }
};

}  // namespace

TEST_CASE("the gradient of each objective of T_LM, in every weight") {
  const Drawn<Block::definition> drawn;
  const auto& [_, model, batch] = drawn;
  must_hold(loss_gradient_fails("T_LM, by Mean", model, batch, Mean{}));
  must_hold(loss_gradient_fails("T_LM, by Sum", model, batch, Sum{}));
  must_hold(loss_gradient_fails("T_LM, by DividedBy", model, batch, DividedBy<double>{100}));
  must_hold(loss_gradient_fails("T_LM, smoothed", model, batch, Smoothed<Mean>{0.3}));
  must_hold(loss_gradient_fails("T_LM, in parts", model, micro_batches(batch, 2), Smoothed<Sum>{0.3}));
}

TEST_CASE("the gradient of the loss of the inspirational T_LM, in every weight") {
  const Drawn<Block::inspirational> drawn;
  must_hold(loss_gradient_fails("T_LM, inspirational, by Mean", drawn.model, drawn.batch, Mean{}));
}

}  // namespace tlm::tests::in_loss
