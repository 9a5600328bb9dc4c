// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "../../proofs/support.hpp"
#include "../shapes.hpp"

namespace tlm::tests::in_loss {

namespace {

using Model = SmallLM<Block::definition>;
using Weights = Matrix<n, 1, double>;

/// The token that starts, in most cases: some token of the vocabulary, and not 0.
constexpr Token start = 3;
constexpr double NaN = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

/// A batch of three sequences.
Batch<double> batch_of_three(Generator& generator) {
  return random_batch(start, Sequences::of_lengths({4, 2, 6}), generator);
}

/// Σ_k ω_k·CrossEntropy(q_k, p_k) by plain loops, over all tokens of the vocabulary, where q_k = (1−ε)·OneHot(x_k) + ε/s and
/// p_k = softmax(Z_k).
double sum_by_loops(const Model& model, const Batch<double>& batch, double epsilon) {
  const auto Z = model(detail::after_start(batch.start, batch.x));
  double sum = 0;
  for (std::size_t k = 0; k < Z.rows(); ++k) {
    double denominator = 0;
    for (std::size_t j = 0; j < vocab_size; ++j) denominator += std::exp(Z(k, j));
    for (std::size_t j = 0; j < vocab_size; ++j) {
      const double one_hot = int(j) == batch.x(k, 0) ? 1 : 0;
      const double q = (1 - epsilon) * one_hot + epsilon / double(vocab_size);
      sum -= batch.omega(k, 0) * q * std::log(std::exp(Z(k, j)) / denominator);
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("unweighted tokens weigh 1 each") {
  const auto batch = unweighted<double>(start, Tokens{{1, 2}, {4}});
  CHECK((batch.start == start && batch.x == Tokens{{1, 2}, {4}} && batch.omega == Weights{{1, 1}, {1}}));
}

TEST_CASE(
    "the loss of a batch is −Σωy/Σω by Mean; Sum divides by 1, DividedBy by another number; and smoothed, y is that of "
    "(1−ε)·OneHot(x) + ε/s") {
  Generator generator{1};
  const auto model = random_layer<Model>(generator);
  const auto batch = batch_of_three(generator);
  const auto compare = [&](const auto& objective, double epsilon, double divisor) {
    CAPTURE(epsilon);
    CAPTURE(divisor);
    const double value = loss(model, batch, objective);
    CHECK(value == doctest::Approx(sum_by_loops(model, batch, epsilon) / divisor).epsilon(1e-12));
    Model gradient;
    CHECK(loss_and_gradient(model, batch, gradient, objective) == value);
  };
  const double omega = sum_of(batch.omega);
  compare(Mean{}, 0, omega);
  compare(Sum{}, 0, 1);
  compare(DividedBy<double>{100}, 0, 100);
  for (const double epsilon : {0.1, 0.5, 0.999}) {
    compare(Smoothed<Mean>{epsilon}, epsilon, omega);
    compare(Smoothed<Sum>{epsilon}, epsilon, 1);
    compare(Smoothed<DividedBy<double>>{epsilon, {100}}, epsilon, 100);
  }
  CHECK(loss(model, batch) == loss(model, batch, Mean{}));
  CHECK(Smoothed<Mean>{}.epsilon == 0.1);
  // Control: they are not the same.
  CHECK(std::abs(loss(model, batch, Sum{}) - loss(model, batch)) > 0.1);
  CHECK(std::abs(loss(model, batch, Smoothed<Mean>{}) - loss(model, batch)) > 1e-3);
}

TEST_CASE("the gradient in every weight: T_LM in smoothed parts, a bigram by each objective") {
  Generator generator{1};
  auto model = random_layer<Model>(generator);
  auto batch = batch_of_three(generator);
  batch.omega(0, 0) = 0;  // this token counts for nothing
  must_be_derivative(model, micro_batches(batch, 2), Smoothed<Sum>{0.3});
  auto bigram = random_layer<Embedding<vocab_size, vocab_size, double>>(generator);
  must_be_derivative(bigram, batch, Mean{});
  must_be_derivative(bigram, batch, Sum{});
  must_be_derivative(bigram, batch, DividedBy<double>{100});
  must_be_derivative(bigram, batch, Smoothed<Mean>{0.3});
  CHECK(loss_gradient_fails(value_and_gradient(bigram, batch, Mean{}).second, bigram, batch, Sum{}));  // control
}

TEST_CASE("every sequence of a batch is preceded by the token that starts") {
  const Tokens x{{1, 2, 3}, {4}, {2, 2}};
  CHECK(detail::after_start(0, x) == Tokens{{0, 1, 2}, {0}, {0, 2}});
  CHECK(detail::after_start(7, x) == Tokens{{7, 1, 2}, {7}, {7, 2}});
}

TEST_CASE(
    "value_and_gradient returns what loss_and_gradient adds to a gradient of 0, of any batch and by any objective") {
  Generator generator{9};
  const auto model = random_layer<Model>(generator);
  const auto batch = batch_of_three(generator);
  const Model nothing{};
  const auto compare = [&](const auto& of, const auto& objective) {
    Model added;
    const double expected = loss_and_gradient(model, of, added, objective);
    const auto [value, gradient] = value_and_gradient(model, of, objective);
    CHECK(value == expected);
    CHECK(distance_of_weights(gradient, added) == 0);
    CHECK(distance_of_weights(gradient, nothing) > 0.01);
  };
  Tokens unknown = batch.x;
  unknown(0, 0) = -1;
  const Matrix<n, vocab_size, double> Y{unknown.sequences()};
  CHECK_THROWS_AS(cross_entropy(Y, unknown, batch.omega, 1.0), std::out_of_range);
  CHECK_THROWS_AS(cross_entropy_gradient(Y, unknown, batch.omega, 1.0), std::out_of_range);
  compare(batch, Mean{});
  compare(batch, Sum{});
  compare(micro_batches(batch, 2), Smoothed<Mean>{});
  CHECK(value_and_gradient(model, batch).first == loss(model, batch));
}

TEST_CASE("LogSoftmax neither overflows nor forgets the small entries") {
  const Matrix<n, 3, double> Y = log_softmax(Matrix<n, 3, double>{1e4, 0, -1e4, 0, 0, 0});
  CHECK(Y(0, 0) == 0);
  CHECK(Y(0, 1) == -1e4);
  CHECK(Y(0, 2) == -2e4);
  CHECK(Y(1, 2) == doctest::Approx(-std::log(3.0)));
  CHECK(log_softmax(Matrix<n, 2, float>{1e4f, 1e4f})(0, 0) == -std::log(2.f));  // no digit is lost to large scores
}

TEST_CASE("a smoothed loss is least where the model says q, and then it is the entropy of q") {
  const SmoothedOneHot q{0.4};
  const Tokens x{1};
  const Weights omega{1};
  const Matrix<n, 4, double> Z{std::log(0.1), std::log(0.7), std::log(0.1), std::log(0.1)};
  const double entropy = -(3 * 0.1 * std::log(0.1) + 0.7 * std::log(0.7));
  const auto Y = log_softmax(Z), Z_bar = cross_entropy_gradient(Y, x, omega, 1.0, q);
  CHECK(cross_entropy(Y, x, omega, 1.0, q) == doctest::Approx(entropy).epsilon(1e-14));
  for (std::size_t j = 0; j < 4; ++j) CHECK(std::abs(Z_bar(0, j)) <= 1e-15);
  // Any other distribution has a larger one.
  for (const double z : {-20.0, -3.0, -1.0, 3.0}) {
    auto other = Z;
    other(0, 1) += z;
    CHECK(cross_entropy(log_softmax(other), x, omega, 1.0, q) > entropy + 1e-3);
  }
}

TEST_CASE(
    "where a token is impossible, the loss of another one is finite, its smoothed loss is not, and no weight is no "
    "loss, unless the score is NaN") {
  const auto Y = log_softmax(Matrix<n, 2, float>{3e38f, -3e38f});  // −∞ for token 1, in float
  CHECK(cross_entropy(Y, Tokens{0}, Matrix<n, 1>{1}, 1.f) == 0);
  CHECK(cross_entropy(Y, Tokens{0}, Matrix<n, 1>{1}, 1.f, SmoothedOneHot{0.1}) == infinity);
  CHECK(cross_entropy(Y, Tokens{1}, Matrix<n, 1>{1}, 1.f) == infinity);
  CHECK(cross_entropy(Y, Tokens{1}, Matrix<n, 1>{0}, 1.f) == 0);
  CHECK(std::isnan(cross_entropy(Matrix<n, 2, float>{float(NaN), 0}, Tokens{0}, Matrix<n, 1>{0}, 1.f)));
}

TEST_CASE("an ε that smooths nothing, or leaves nothing, is refused, and the gradient is as it was") {
  Generator generator{2};
  const auto model = random_layer<Model>(generator);
  const auto batch = batch_of_three(generator);
  for (const auto& [value, text] : {std::pair{0.0, "0"}, {1.0, "1"}, {-0.5, "-0.5"}, {NaN, "nan"}})
    CHECK(refusal<std::invalid_argument>([&, epsilon = value] { loss(model, batch, Smoothed<Mean>{epsilon}); }) ==
          std::string("epsilon of Smoothed must be greater than 0 and less than 1, not ") + text);
  Model gradient;
  CHECK_THROWS_AS(loss_and_gradient(model, batch, gradient, Smoothed<Mean>{0}), std::invalid_argument);
  CHECK(distance_of_weights(gradient, Model{}) == 0);
}

}  // namespace tlm::tests::in_loss
