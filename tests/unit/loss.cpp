// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "../layers.hpp"

using namespace tlm;
using namespace tlm::tests;

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

/// The loss of sequence s of a batch on its own, with its weights.
double loss_of_row(const Model& model, const Batch<double>& batch, std::size_t s) {
  return loss(model, Batch<double>{batch.start, sequence(batch.x, s), sequence(batch.omega, s)});
}

/// (1/s) Σ_j of the losses of the rows.
double average_over_rows(const Model& model, const Batch<double>& batch) {
  const std::size_t count = batch.x.sequences().count();
  double sum = 0;
  for (std::size_t s = 0; s < count; ++s) sum += loss_of_row(model, batch, s);
  return sum / double(count);
}

/// The weights of every row scaled so that they sum to 1.
Batch<double> with_equal_row_sums(Batch<double> batch) {
  const Sequences& sequences = batch.x.sequences();
  for (std::size_t s = 0; s < sequences.count(); ++s) {
    double sum = 0;
    for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i) sum += batch.omega(i, 0);
    for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i) batch.omega(i, 0) /= sum;
  }
  return batch;
}

/// y_k of one sequence, from all n + 1 rows of T(first, x_1, …, x_n) by the reference.
std::vector<double> log_probabilities(const Model& model, const std::vector<Token>& x, Token first = start) {
  std::vector<Token> X{first};
  X.insert(X.end(), x.begin(), x.end());
  return reference::log_probabilities(
      reference::transformer_lm(weights_of(model), 2, n_heads, reference::Block::definition, X), x);
}

}  // namespace

TEST_CASE("the loss of a single sequence is −(1/n)Σy_k") {
  Generator generator{1};
  const auto model = random_layer<Model>(generator);
  const std::vector<Token> x{3, 1, 4, 1, 0, 2};
  double sum = 0;
  for (const double y : log_probabilities(model, x)) sum += y;
  CHECK(loss(model, unweighted<double>(start, Tokens{x})) == doctest::Approx(-sum / 6).epsilon(tolerance));
}

TEST_CASE("unweighted tokens weigh 1 each") {
  const auto batch = unweighted<double>(start, stack<1, Token>({{1, 2}, {4}}));
  CHECK((batch.start == start && batch.x == stack<1, Token>({{1, 2}, {4}})));
  CHECK(batch.omega == stack<1, double>({{1, 1}, {1}}));
}

TEST_CASE("the loss of a batch is −Σωy/Σω") {
  Generator generator{2};
  const auto model = random_layer<Model>(generator);
  const auto batch = random_batch(generator);
  double weighted = 0, sum = 0;
  for (std::size_t s = 0; s < 3; ++s) {
    const auto y = log_probabilities(model, plain(sequence(batch.x, s)));
    const auto omega = sequence(batch.omega, s);
    for (std::size_t i = 0; i < y.size(); ++i) {
      weighted += omega(i, 0) * y[i];
      sum += omega(i, 0);
    }
  }
  CHECK(loss(model, batch) == doctest::Approx(-weighted / sum).epsilon(tolerance));
}

TEST_CASE("T(X)|n is T(X|n): the last row need not be computed") {
  Generator generator{3};
  const auto model = random_layer<Model>(generator);
  const Tokens x{3, 1, 4, 1};
  const Tokens X{start, 3, 1, 4, 1};
  CHECK(preceded_by(start, x) == Tokens{start, 3, 1, 4});
  CHECK(distance(rows(model(X), 0, 4), model(preceded_by(start, x))) <= tolerance);
}

TEST_CASE("every sequence of a batch is preceded by the token that starts") {
  const Tokens x = stack<1, Token>({{1, 2, 3}, {4}, {2, 2}});
  CHECK(preceded_by(0, x) == stack<1, Token>({{0, 1, 2}, {0}, {0, 2}}));
  CHECK(preceded_by(7, x) == stack<1, Token>({{7, 1, 2}, {7}, {7, 2}}));
}

TEST_CASE("the token that starts is what the batch says it is") {
  Generator generator{7};
  const auto model = random_layer<Model>(generator);
  const std::vector<Token> x{3, 1, 4};
  std::vector<double> losses;
  for (Token first = 0; first < Token(vocab_size); ++first) {
    CAPTURE(first);
    double sum = 0;
    for (const double y : log_probabilities(model, x, first)) sum += y;
    losses.push_back(loss(model, unweighted<double>(first, Tokens{x})));
    CHECK(losses.back() == doctest::Approx(-sum / 3).epsilon(tolerance));
  }
  CHECK(std::abs(losses[0] - losses[1]) > 1e-3);
}

TEST_CASE("Mean divides by Σω, Sum by 1, PartOf by the Σω of the whole") {
  Generator generator{8};
  const auto model = random_layer<Model>(generator);
  const auto batch = random_batch(generator);
  const double omega = sum_of(batch.omega), mean = loss(model, batch);
  CHECK(loss(model, batch, Mean{}) == mean);
  CHECK(loss(model, batch, Sum{}) == doctest::Approx(omega * mean).epsilon(tolerance));
  CHECK(loss(model, batch, PartOf<double>{omega}) == doctest::Approx(mean).epsilon(tolerance));
  CHECK(loss(model, batch, PartOf<double>{10 * omega}) == doctest::Approx(mean / 10).epsilon(tolerance));
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

TEST_CASE("the parts of a batch add up to the whole, loss and gradient, one of them without any weight") {
  Generator generator{9};
  const auto model = random_layer<Model>(generator);
  auto batch = random_batch(generator);
  for (std::size_t i = 0; i < 4; ++i) batch.omega(i, 0) = 0;  // all of the first sequence
  const PartOf<double> part{sum_of(batch.omega)};
  Model whole, parts;
  const double expected = loss_and_gradient(model, batch, whole);
  double sum = 0;
  for (std::size_t s = 0; s < 3; ++s)
    sum += loss_and_gradient(model, Batch<double>{start, sequence(batch.x, s), sequence(batch.omega, s)}, parts, part);
  CHECK(sum == doctest::Approx(expected).epsilon(tolerance));
  CHECK(distance_of_weights(whole, parts) <= 1e-14);
}

TEST_CASE("with weights on one row only, a batch has that row's loss") {
  Generator generator{4};
  const auto model = random_layer<Model>(generator);
  const auto random = random_batch(generator);
  const Sequences& sequences = random.x.sequences();
  for (std::size_t s = 0; s < sequences.count(); ++s) {
    CAPTURE(s);
    Batch<double> batch{start, random.x, Weights{sequences, 0.0}};
    for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i) batch.omega(i, 0) = 1;
    CHECK(loss(model, batch) ==
          doctest::Approx(loss(model, unweighted<double>(start, sequence(random.x, s)))).epsilon(tolerance));
  }
}

TEST_CASE("the average over rows is the same for equal row sums of the weights, and in general another") {
  Generator generator{5};
  const auto model = random_layer<Model>(generator);
  const auto unequal_sums = random_batch(generator);
  const auto equal_sums = with_equal_row_sums(unequal_sums);
  CHECK(average_over_rows(model, equal_sums) == doctest::Approx(loss(model, equal_sums)).epsilon(tolerance));
  CHECK(std::abs(average_over_rows(model, unequal_sums) - loss(model, unequal_sums)) > 1e-3);
}

TEST_CASE("the loss is the one that the gradient is taken of, and not negative") {
  Generator generator{6};
  const auto model = random_layer<Model>(generator);
  const auto batch = random_batch(generator);
  Model gradient;
  CHECK(loss_and_gradient(model, batch, gradient) == loss(model, batch));
  CHECK(loss(model, batch) > 0);
}

TEST_CASE("LogSoftmax neither overflows nor forgets the small entries") {
  const Matrix<n, 3, double> Y = log_softmax(Matrix<n, 3, double>{1e4, 0, -1e4, 0, 0, 0});
  CHECK(Y(0, 0) == 0);
  CHECK(Y(0, 1) == -1e4);
  CHECK(Y(0, 2) == -2e4);
  CHECK(Y(1, 2) == doctest::Approx(-std::log(3.0)));
}
