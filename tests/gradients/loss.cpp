#include <doctest/doctest.h>

#include "../layers.hpp"
#include "checker.hpp"

using namespace tlm;
using namespace tlm::tests;

namespace {

/// The gradient of the loss in the weight space, compared with differences of the loss.
template <class T>
Comparison::Worst check_loss(T model, const Batch<double>& batch) {
  T gradient;
  loss_and_gradient(model, batch, gradient);
  Comparison comparison;
  for_each_weight(
      [&](const Name& name, auto& weight, const auto& dW) {
        comparison.add(
            name.path(), [&] { return loss(model, batch); }, weight, dW, step);
      },
      model, gradient);
  return comparison.worst();
}

}  // namespace

TEST_CASE_TEMPLATE("the gradient of the loss of the whole model, in every weight", T, SmallLM<Block::definition>,
                   SmallLM<Block::inspirational>) {
  Generator generator{1};
  const T model = random_layer<T>(generator);
  Batch<double> batch{random_rows<Tokens>(unequal(), generator), Matrix<n, 1, double>{unequal()}};
  for (std::size_t i = 0; i < batch.x.rows(); ++i) batch.omega(i, 0) = generator.uniform();
  batch.omega(0, 0) = 0;
  const auto worst = check_loss(model, batch);
  INFO(worst.name);
  CHECK(worst.error <= 1);
}

TEST_CASE("the gradient is added to what is there") {
  using T = SmallLM<Block::definition>;
  Generator generator{1};
  const T model = random_layer<T>(generator);
  const auto batch = unweighted<double>(Tokens{1, 2, 3});
  T once, twice;
  loss_and_gradient(model, batch, once);
  loss_and_gradient(model, batch, twice);
  loss_and_gradient(model, batch, twice);
  for_each_weight([](const Name&, const auto& dW_once,
                     const auto& dW_twice) { CHECK(distance(table(dW_twice), table(dW_once + dW_once)) <= 1e-14); },
                  std::as_const(once), std::as_const(twice));
}
