// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>

#include "../../proofs/support.hpp"
#include "../layers.hpp"

using namespace tlm;
using namespace tlm::tests;
using checking::Comparison, proofs::must_hold;

namespace {

/// The gradient of the loss in the weight space, compared with differences of the loss.
template <class T, class BatchOf, class Objective>
std::optional<Failure> loss_gradient_fails(std::string object, T model, const BatchOf& batch,
                                           const Objective& objective) {
  T gradient;
  loss_and_gradient(model, batch, gradient, objective);
  Comparison comparison;
  comparison.add_weights([&] { return loss(model, batch, objective); }, model, gradient);
  return comparison.failure({.claim = "the gradient of the loss agrees with differences",
                             .layer = std::move(object),
                             .arithmetic = "double"});
}

}  // namespace

TEST_CASE_TEMPLATE("the gradient of the loss of the whole model, in every weight", T, SmallLM<Block::definition>,
                   SmallLM<Block::inspirational>) {
  Generator generator{1};
  const T model = random_layer<T>(generator);
  Batch<double> batch{2, random_rows<Tokens>(unequal(), generator), Matrix<n, 1, double>{unequal()}};
  for (std::size_t i = 0; i < batch.x.rows(); ++i) batch.omega(i, 0) = generator.uniform();
  batch.omega(0, 0) = 0;
  const std::string T_LM = T::config.block == Block::definition ? "T_LM" : "T_LM, inspirational";
  must_hold(loss_gradient_fails(T_LM + ", by Mean", model, batch, Mean{}));
  must_hold(loss_gradient_fails(T_LM + ", by Sum", model, batch, Sum{}));
  must_hold(loss_gradient_fails(T_LM + ", by DividedBy", model, batch, DividedBy<double>{100}));
  must_hold(loss_gradient_fails(T_LM + ", smoothed", model, batch, Smoothed<Mean>{0.3}));
  must_hold(loss_gradient_fails(T_LM + ", in parts", model, micro_batches(batch, 2), Smoothed<Sum>{0.3}));
}
