// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "../layers.hpp"

namespace tlm::tests::in_loss {

namespace {

using Model = SmallLM<Block::definition>;
using Weights = Matrix<n, 1, double>;

constexpr double tolerance = 1e-12;

/// The token that starts, in most cases: some token of the vocabulary, and not 0.
constexpr Token start = 3;

/// A batch of three sequences of 4, 2 and 6 tokens with weights from (0, 1].
Batch<double> random_batch(Generator& generator) {
  const Sequences lengths = Sequences::of_lengths({4, 2, 6});
  Batch<double> batch{start, random_rows<Tokens>(lengths, generator), Weights{lengths}};
  for (std::size_t i = 0; i < lengths.rows(); ++i) batch.omega(i, 0) = 1 - generator.uniform();
  return batch;
}

/// y_k of one sequence, from all n + 1 rows of T(first, x_1, …, x_n) by the reference.
std::vector<double> log_probabilities(const Model& model, const std::vector<Token>& x, Token first) {
  std::vector<Token> X{first};
  X.insert(X.end(), x.begin(), x.end());
  return reference::log_probabilities(
      reference::transformer_lm(weights_of(model), 2, n_heads, reference::Block::definition, X), x);
}

}  // namespace

TEST_CASE("unweighted tokens weigh 1 each") {
  const auto batch = unweighted<double>(start, concat_sequences<1, Token>({{1, 2}, {4}}));
  CHECK((batch.start == start && batch.x == concat_sequences<1, Token>({{1, 2}, {4}})));
  CHECK(batch.omega == concat_sequences<1, double>({{1, 1}, {1}}));
}

TEST_CASE("the loss of a batch is −Σωy/Σω") {
  Generator generator{2};
  const auto model = random_layer<Model>(generator);
  const auto batch = random_batch(generator);
  double weighted = 0, sum = 0;
  for (std::size_t s = 0; s < 3; ++s) {
    const auto y = log_probabilities(model, plain(sequence(batch.x, s)), start);
    const auto omega = sequence(batch.omega, s);
    for (std::size_t i = 0; i < y.size(); ++i) {
      weighted += omega(i, 0) * y[i];
      sum += omega(i, 0);
    }
  }
  CHECK(loss(model, batch) == doctest::Approx(-weighted / sum).epsilon(tolerance));
}

TEST_CASE("every sequence of a batch is preceded by the token that starts") {
  const Tokens x = concat_sequences<1, Token>({{1, 2, 3}, {4}, {2, 2}});
  CHECK(detail::after_start(0, x) == concat_sequences<1, Token>({{0, 1, 2}, {0}, {0, 2}}));
  CHECK(detail::after_start(7, x) == concat_sequences<1, Token>({{7, 1, 2}, {7}, {7, 2}}));
}

TEST_CASE("Mean divides by Σω, Sum by 1, DividedBy by the Σω of the whole") {
  Generator generator{8};
  const auto model = random_layer<Model>(generator);
  const auto batch = random_batch(generator);
  const double omega = sum_of(batch.omega), mean = loss(model, batch);
  CHECK(loss(model, batch, Mean{}) == mean);
  CHECK(loss(model, batch, Sum{}) == doctest::Approx(omega * mean).epsilon(tolerance));
  CHECK(loss(model, batch, DividedBy<double>{omega}) == doctest::Approx(mean).epsilon(tolerance));
  CHECK(loss(model, batch, DividedBy<double>{10 * omega}) == doctest::Approx(mean / 10).epsilon(tolerance));
  CHECK(std::abs(loss(model, batch, Sum{}) - mean) > 0.1);

  // Their gradients differ by the same factors.
  Model of_mean, of_sum;
  CHECK(loss_and_gradient(model, batch, of_mean, Mean{}) == mean);
  CHECK(loss_and_gradient(model, batch, of_sum, Sum{}) == loss(model, batch, Sum{}));
  for_each_weight(
      [&](const Name& name, const auto& W_bar_mean, const auto& W_bar_sum) {
        CAPTURE(name.path());
        for (std::size_t e = 0; e < W_bar_mean.size; ++e)
          CHECK(W_bar_sum.data()[e] == doctest::Approx(omega * W_bar_mean.data()[e]).epsilon(1e-9));
      },
      std::as_const(of_mean), std::as_const(of_sum));
}

TEST_CASE(
    "value_and_gradient returns what loss_and_gradient adds to a gradient of 0, of any batch and by any objective") {
  Generator generator{9};
  const auto model = random_layer<Model>(generator);
  const auto batch = random_batch(generator);
  const Model nothing{};
  const auto compare = [&](const auto& of, const auto& objective) {
    Model added;
    const double expected = loss_and_gradient(model, of, added, objective);
    const auto [value, gradient] = value_and_gradient(model, of, objective);
    CHECK(value == expected);
    CHECK(distance_of_weights(gradient, added) == 0);
    CHECK(distance_of_weights(gradient, nothing) > 0.01);
  };
  compare(batch, Mean{});
  compare(batch, Sum{});
  compare(micro_batches(batch, 2), Smoothed<Mean>{});
  CHECK(value_and_gradient(model, batch).value == loss(model, batch));
}

TEST_CASE("LogSoftmax neither overflows nor forgets the small entries") {
  const Matrix<n, 3, double> Y = log_softmax(Matrix<n, 3, double>{1e4, 0, -1e4, 0, 0, 0});
  CHECK(Y(0, 0) == 0);
  CHECK(Y(0, 1) == -1e4);
  CHECK(Y(0, 2) == -2e4);
  CHECK(Y(1, 2) == doctest::Approx(-std::log(3.0)));
}

}  // namespace tlm::tests::in_loss
