// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tlm/algebra/weight_by_path.hpp>
#include <tlm/models/formulated_transformer.hpp>
#include <tlm/models/transformer_lm.hpp>
#include <tlm/training/micro_batches.hpp>
#include <tlm/training/optimizers.hpp>
#include <tlm/training/patience.hpp>
#include <tlm/training/smoothed.hpp>
#include <tlm/training/translations.hpp>

#include "../support.hpp"

namespace tlm::tests::in_parts {

namespace {

using Model = TransformerLM<
    Config{.vocab_size = tests::vocab_size, .d_model = 6, .d_ff = 7, .n_layers = 1, .n_heads = 2, .max_len = 9},
    double>;
using Weights = Matrix<n, 1, double>;
constexpr Token start = 3;
constexpr double NaN = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

/// A batch of sequences of 4, 2, 6, 1 and 3 tokens with weights from (0, 1].
Batch<double> random_batch(Generator& generator) {
  const Sequences lengths = Sequences::of_lengths({4, 2, 6, 1, 3});
  Batch<double> batch{start, random_rows<Tokens>(lengths, generator), Weights{lengths}};
  for (std::size_t i = 0; i < lengths.rows(); ++i) batch.omega(i, 0) = 1 - generator.uniform();
  return batch;
}

/// Σ_k ω_k·CrossEntropy(q_k, p_k) by plain loops, over all tokens of the vocabulary, where q_k = (1−ε)·OneHot(x_k) + ε/s and
/// p_k = softmax(Z_k).
double sum_by_loops(const Model& model, const Batch<double>& batch, double epsilon) {
  const auto Z = model(detail::after_start(batch.start, batch.x));
  double sum = 0;
  for (std::size_t k = 0; k < Z.rows(); ++k) {
    double denominator = 0;
    for (std::size_t j = 0; j < tests::vocab_size; ++j) denominator += std::exp(Z(k, j));
    for (std::size_t j = 0; j < tests::vocab_size; ++j) {
      const double one_hot = int(j) == batch.x(k, 0) ? 1 : 0;
      const double q = (1 - epsilon) * one_hot + epsilon / double(tests::vocab_size);
      sum -= batch.omega(k, 0) * q * std::log(std::exp(Z(k, j)) / denominator);
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("the smoothed loss is the cross-entropy of (1−ε)·OneHot(x) + ε/s and softmax(Z)") {
  Generator generator{1};
  const auto model = random_layer<Model>(generator);
  const auto batch = random_batch(generator);
  const double omega = sum_of(batch.omega);
  for (const double epsilon : {0.1, 0.5, 0.999}) {
    CAPTURE(epsilon);
    const double sum = sum_by_loops(model, batch, epsilon);
    CHECK(loss(model, batch, Smoothed<Mean>{epsilon}) == doctest::Approx(sum / omega).epsilon(1e-12));
    CHECK(loss(model, batch, Smoothed<Sum>{epsilon}) == doctest::Approx(sum).epsilon(1e-12));
    CHECK(loss(model, batch, Smoothed<DividedBy<double>>{epsilon, {100}}) == doctest::Approx(sum / 100).epsilon(1e-12));
  }
  // Control: it is not the loss itself, which is the case of ε = 0.
  CHECK(loss(model, batch) == doctest::Approx(sum_by_loops(model, batch, 0) / omega).epsilon(1e-12));
  CHECK(std::abs(loss(model, batch, Smoothed<Mean>{}) - loss(model, batch)) > 1e-3);
  CHECK(Smoothed<Mean>{}.epsilon == 0.1);

  Model gradient;
  CHECK(loss_and_gradient(model, batch, gradient, Smoothed<Mean>{}) == loss(model, batch, Smoothed<Mean>{}));
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
  // Any other distribution has a larger one, and the surest model has the largest.
  for (const double z : {-20.0, -3.0, -1.0, 0.0, 3.0}) {
    auto other = Z;
    other(0, 1) += z;
    if (z != 0) CHECK(cross_entropy(log_softmax(other), x, omega, 1.0, q) > entropy + 1e-3);
  }
}

TEST_CASE("where a token is impossible, the loss of another one is finite, and its smoothed loss is not") {
  const auto Y = log_softmax(Matrix<n, 2, float>{3e38f, -3e38f});  // −∞ for token 1, in float
  CHECK(cross_entropy(Y, Tokens{0}, Matrix<n, 1>{1}, 1.f) == 0);
  CHECK(cross_entropy(Y, Tokens{0}, Matrix<n, 1>{1}, 1.f, SmoothedOneHot{0.1}) == infinity);
}

TEST_CASE("an ε that smooths nothing, or leaves nothing, is refused, and the gradient is as it was") {
  Generator generator{2};
  const auto model = random_layer<Model>(generator);
  const auto batch = random_batch(generator);
  const auto sentence = [](const char* epsilon) {
    return std::string("epsilon of Smoothed must be greater than 0 and less than 1, not ") + epsilon;
  };
  CHECK_THROWS_WITH_AS(loss(model, batch, Smoothed<Mean>{0}), sentence("0").c_str(), std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss(model, batch, Smoothed<Mean>{1}), sentence("1").c_str(), std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss(model, batch, Smoothed<Mean>{-0.5}), sentence("-0.5").c_str(), std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss(model, batch, Smoothed<Mean>{NaN}), sentence("nan").c_str(), std::invalid_argument);
  Model gradient;
  CHECK_THROWS_AS(loss_and_gradient(model, batch, gradient, Smoothed<Mean>{0}), std::invalid_argument);
  CHECK(distance_of_weights(gradient, Model{}) == 0);
}

TEST_CASE("translations in parts, too, have the loss and the gradient of the whole, and null does not count") {
  using Translator = formulated::Transformer<
      formulated::Config{
          .s = tests::vocab_size, .d_model = 6, .d_ff = 7, .d_k = 3, .d_v = 5, .h = 2, .N = 1, .max_len = 9},
      double>;
  Generator generator{7};
  const auto model = random_layer<Translator>(generator);
  const Translations whole{random_rows<Tokens>(Sequences::of_lengths({2, 4, 1, 3, 2}), generator),
                           random_rows<Tokens>(Sequences::of_lengths({4, 2, 6, 3, 3}), generator), 2};
  for (const std::size_t most : {1u, 2u, 5u}) {
    CAPTURE(most);
    Translator of_whole, of_parts;
    const double expected = loss_and_gradient(model, whole, of_whole);
    CHECK(loss_and_gradient(model, micro_batches(whole, most), of_parts) == doctest::Approx(expected).epsilon(1e-13));
    CHECK(distance_of_weights(of_whole, of_parts) <= 1e-13);
  }
}

TEST_CASE("a batch is split between sequences, in their order, each with its weights") {
  const Batch<> batch{start, {{1, 2}, {3}, {4, 4, 4}}, {{1, 0.5}, {0.25}, {0, 1, 0}}};
  const auto parts = micro_batches(batch, 2).batches;
  REQUIRE(parts.size() == 2);
  CHECK((parts[0].start == start && parts[1].start == start));
  CHECK(parts[0].x == concat_sequences<1, Token>({{1, 2}, {3}}));
  CHECK(parts[0].omega == concat_sequences<1, float>({{1, 0.5}, {0.25}}));
  CHECK(parts[1].x == Tokens{4, 4, 4});
  CHECK(parts[1].omega == Matrix<n, 1>{0, 1, 0});

  const auto translations = micro_batches(Translations{{{1}, {2, 3}}, {{4, 5}, {6, 7, 8}}, 7}, 1).batches;
  REQUIRE(translations.size() == 2);
  CHECK((translations[1].x == Tokens{2, 3} && translations[1].y == Tokens{6, 7, 8} && translations[1].null == 7));

  CHECK_THROWS_WITH_AS(micro_batches(batch, 0), "parts of 0 sequences make no batch: at least 1 is needed in each",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(micro_batches(Batch<>{start, {{1, 2}, {3}}, {{1, 1}, {1}, {1}}}, 1),
                       "the number of sequences is 2 in the tokens, but 3 in the loss weights", std::invalid_argument);
  CHECK_THROWS_WITH_AS(micro_batches(Translations{{{1}, {2}}, {{4, 5}}, 7}, 1), "2 sources cannot have 1 targets",
                       std::invalid_argument);
}

TEST_CASE("bad parts: one sentence each") {
  Generator generator{4};
  const auto model = random_layer<Model>(generator);
  const auto nothing = Batch<double>{start, {{1, 2}}, {{0, 0}}}, wrong = Batch<double>{start, {{1, 9}}, {{1, 1}}};
  CHECK_THROWS_WITH_AS(loss(model, MicroBatches<Batch<double>>{}),
                       "a batch in parts needs at least one part; this one has none", std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss(model, MicroBatches<Batch<double>>{{nothing, nothing}}),
                       "the loss weights of a batch sum to 0: there is nothing to average", std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      loss(model, MicroBatches<Batch<double>>{{nothing, wrong}}),
      "token 9, to be predicted at position 2 of sequence 1, is not in the vocabulary: tokens are 0 to 4",
      std::out_of_range);
  CHECK(loss(model, MicroBatches<Batch<double>>{{nothing, nothing}}, DividedBy<double>{1}) == 0);
}

TEST_CASE("training takes batches in parts") {
  Generator generator{5};
  Model whole = random_layer<Model>(generator), parts = whole;
  const auto batch = random_batch(generator);
  SGD sgd{.learning_rate = 0.05};
  const auto report = [](const Progress&) { return Continue::yes; };
  CHECK(train(
            whole, sgd, [&] { return batch; }, 10, report) == 10);
  train(
      parts, sgd, [&] { return micro_batches(batch, 2); }, 10, report);
  CHECK(distance_of_weights(whole, parts) <= 1e-12);
  CHECK(distance_of_weights(whole, Model{}) > 0.1);
}

TEST_CASE("patience keeps the weights with the least loss, and ends after so many evaluations that are not better") {
  Patience<Model> patience{.evaluations = 3};
  const auto evaluate = [&](double number, double loss) {
    Model model;
    weight<"N.a">(model)(0, 0) = number;
    return patience(model, loss) == Continue::yes;
  };
  const auto best = [&] { return weight<"N.a">(patience.best)(0, 0); };
  CHECK(patience.least == infinity);
  CHECK(evaluate(1, 5));
  CHECK((best() == 1 && patience.least == 5 && patience.since == 0));
  CHECK(evaluate(2, 5));  // an equal one is not better
  CHECK(evaluate(3, 6));
  CHECK((best() == 1 && patience.least == 5 && patience.since == 2));
  CHECK(evaluate(4, 4));
  CHECK((best() == 4 && patience.least == 4 && patience.since == 0));
  CHECK(evaluate(5, NaN));
  CHECK(evaluate(6, infinity));
  CHECK_FALSE(evaluate(7, 4.5));
  CHECK((best() == 4 && patience.least == 4 && patience.since == 3));
  // Whoever goes on nevertheless may still find a better one.
  CHECK_FALSE(evaluate(8, 4.5));
  CHECK(evaluate(9, 3));
  CHECK(best() == 9);

  Patience<Model> none{.evaluations = 0};
  CHECK_THROWS_WITH_AS(none(Model{}, 1), "a patience of 0 evaluations stops before the first: at least 1",
                       std::invalid_argument);
}

TEST_CASE("a run with patience: it ends early, and its best weights have the least validation loss") {
  Generator generator{6};
  Model model = random_layer<Model>(generator);
  const auto learned = random_batch(generator);
  const auto held_out =
      micro_batches(random_batch(generator), 2);  // of other random tokens: there is nothing to be learned
  Adam<Model> adam{.learning_rate = 0.02};
  Patience<Model> patience{.evaluations = 4};
  std::vector<double> losses;
  const std::size_t steps = train(
      model, adam, [&] { return learned; }, 300,
      [&](const Progress&) {
        losses.push_back(loss(model, held_out));
        return patience(model, losses.back());
      });
  CHECK(steps < 300);
  CHECK(loss(patience.best, held_out) == *std::min_element(losses.begin(), losses.end()));
  CHECK(patience.least == loss(patience.best, held_out));
  CHECK(losses.size() == steps);
  CHECK(losses[steps - 5] == patience.least);
  CHECK(loss(model, held_out) > patience.least);
}

}  // namespace tlm::tests::in_parts
