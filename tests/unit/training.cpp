// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "../shapes.hpp"

namespace tlm::tests::in_training {

namespace {

/// A model that is trained within moments, and the task that it is for.
using Model =
    TransformerLM<Config{.vocab_size = 4, .d_model = 16, .d_ff = 32, .n_layers = 1, .n_heads = 2, .max_len = 7}>;
const Reversal task{3, 2, 2};

constexpr auto go_on = [](const Progress&) { return Continue::yes; };

}  // namespace

TEST_CASE("initial weights are uniform over [−½, ½), and the same everywhere") {
  CHECK(not_drawn_in_this_order<Plus<"B", 1000, double>>({"B"}) == "");
}

TEST_CASE("SGD: w ← w − ηg") {
  Plus<"B", 2, double> layer{.B = {1, 2}};
  const Plus<"B", 2, double> gradient{.B = {10, -20}};
  SGD{.learning_rate = 0.25}(layer, gradient);
  CHECK(layer.B == Matrix<1, 2, double>{1 - 2.5, 2 + 5.0});
  CHECK(SGD{}.learning_rate == 0.001);
}

TEST_CASE("Adam, two steps by hand") {
  using Layer = Plus<"B", 2, double>;
  Layer layer{.B = {1, 2}};
  Adam<Layer> adam{.learning_rate = 0.1, .beta_1 = 0.5, .beta_2 = 0.75, .epsilon = 0.01};
  adam(layer, Layer{.B = {4, -8}});
  adam(layer, Layer{.B = {2, 0}});

  // Step 1: m = g/2 and v = g²/4, corrected by 1 − ½ and 1 − ¾: m̂ = g, v̂ = g².
  double w_0 = 1 - 0.1 * 4 / (4 + 0.01), w_1 = 2 + 0.1 * 8 / (8 + 0.01);
  // Step 2: m = (2 + 2)/2 − that is m/2 + g/2 − and v = ¾v + g²/4, corrected by 1 − ¼ and 1 − 9/16.
  w_0 -= 0.1 * ((2.0 / 2 + 2.0 / 2) / 0.75) / (std::sqrt((0.75 * 4 + 4.0 / 4) / (7.0 / 16)) + 0.01);
  w_1 -= 0.1 * ((-4.0 / 2) / 0.75) / (std::sqrt((0.75 * 16) / (7.0 / 16)) + 0.01);
  CHECK(layer.B(0, 0) == doctest::Approx(w_0).epsilon(1e-14));
  CHECK(layer.B(0, 1) == doctest::Approx(w_1).epsilon(1e-14));
}

TEST_CASE("Adam's defaults are those of Kingma and Ba") {
  const Adam<Plus<"B", 2, double>> adam;
  CHECK((adam.learning_rate == 0.001 && adam.beta_1 == 0.9 && adam.beta_2 == 0.999 && adam.epsilon == 1e-8));
}

TEST_CASE("a report ends the training, whose steps are those by hand; by the sum they take the gradient of the sum") {
  Generator generator{1};
  const Model initial = random_layer<Model>(generator);
  const auto batch = task.batch(4, generator);
  const SGD sgd{.learning_rate = 0.01};
  const auto compare = [&](const auto&... objective) {
    Model model = initial, by_hand = initial;
    std::vector<double> reported, expected;
    std::size_t taken = 0;
    const auto next_batch = [&] {
      ++taken;
      return batch;
    };
    const auto report = [&](const Progress& progress) {
      reported.push_back(progress.loss);
      CHECK(progress.step == reported.size());
      return progress.step == 3 ? Continue::no : Continue::yes;
    };
    CHECK(train(model, sgd, next_batch, 100, report, objective...) == 3);
    CHECK(taken == 3);
    for (int i = 0; i < 3; ++i) {
      Model gradient;
      expected.push_back(loss_and_gradient(by_hand, batch, gradient, objective...));
      sgd(by_hand, gradient);
    }
    CHECK(reported == expected);
    CHECK(distance_of_weights(model, by_hand) == 0);
  };
  compare();
  compare(Sum{});
}

TEST_CASE("a step that fails leaves the model as after the last complete one") {
  Model model = random_layer<Model>(Generator{1}), after_one;
  SGD sgd;
  int batches = 0;
  const auto next_batch = [&] {
    after_one = model;
    return unweighted(0, ++batches == 1 ? Tokens{1, 2} : Tokens{1, 9});
  };
  CHECK_THROWS_AS(train(model, sgd, next_batch, 5, go_on), std::out_of_range);
  CHECK(batches == 2);
  CHECK(distance_of_weights(model, after_one) == 0);
}

TEST_CASE("training that diverges says so, before the weights are moved by what is not a number, or infinite") {
  const auto refuses = [](const Model& diverged, const std::string& is) {
    Model model = diverged;
    SGD sgd;
    const auto next_batch = [] { return unweighted(0, Tokens{1}); };
    const auto report = [](const Progress&) -> Continue { throw std::logic_error("a step was reported"); };
    CHECK(refusal<std::runtime_error>([&] { train(model, sgd, next_batch, 5, report); }) ==
          "the loss of step 1 is " + is +
              ": the weights have grown too large, as they do with too large a learning rate");
    CHECK(same_bits(model, diverged));
  };
  Model not_a_number = random_layer<Model>(Generator{1}), infinite = not_a_number;
  weight<"Φ.Y">(not_a_number)(0, 0) = std::numeric_limits<float>::quiet_NaN();
  refuses(not_a_number, "not a number");
  // LogSoftmax gives token 1 the logarithm −2·3e38, which is −∞ in float.
  weight<"Φ.B">(infinite)(0, 0) = 3e38f;
  weight<"Φ.B">(infinite)(0, 1) = -3e38f;
  refuses(infinite, "infinite");
}

TEST_CASE("a model whose weights were never initialized is refused in the first step, and moved by none") {
  SGD sgd;
  const auto batch = unweighted(0, Tokens{{1, 2}, {3}});
  const auto refusal_of = [&](auto& model) {
    return refusal<std::invalid_argument>([&] {
      train(
          model, sgd, [&] { return batch; }, 3, go_on);
    });
  };
  const std::string sentence =
      "the weight matrices of the model, Em.W_e and all others, are 0, and so are the derivatives with respect to "
      "them: give them values first, by initialize_glorot(model, generator) or initialize_uniform(model, generator)";
  Model model;
  CHECK(refusal_of(model) == sentence);
  CHECK(distance_of_weights(model, Model{}) == 0);

  // In your own loop the first gradient shows it.
  const auto [loss, gradient] = value_and_gradient(model, batch);
  CHECK_THROWS_WITH_AS(require_initialized(model, gradient), sentence.c_str(), std::invalid_argument);

  // Factors alone do not help: all else are products of 0.
  weight<"N.a">(model) = Row<16>{std::vector<float>(16, 1)};
  CHECK(refusal_of(model) == sentence);

  // If one matrix has values, the model was not forgotten: perhaps it was loaded.
  weight<"Φ.Y">(model)(0, 0) = 1;
  CHECK(refusal_of(model) == "");

  // One layer learns from 0.
  Embedding<4, 4> bigram;
  CHECK(refusal_of(bigram) == "");
  CHECK(distance_of_weights(bigram, Embedding<4, 4>{}) > 0);
  Plus<"B", 4> no_matrix;
  require_initialized(no_matrix, no_matrix);

  // A part of a batch whose weights are all 0 has no gradient, and tells nothing about the model. The next part does.
  Model forgotten;
  int parts = 0;
  const auto next_part = [&] {
    const auto omega = float(parts++);
    return Batch<>{0, {1, 2}, {omega, omega}};
  };
  CHECK_THROWS_WITH_AS(train(forgotten, sgd, next_part, 3, go_on, DividedBy<float>{3}), sentence.c_str(),
                       std::invalid_argument);
  CHECK(parts == 2);
}

TEST_CASE("Glorot's values by path: factors are 1, summands 0, matrices uniform over ±√(6/(rows + columns))") {
  const std::set<std::string> ones{"DB_1.N_ca.a", "DB_1.FF.N_ff.a", "DB_2.N_ca.a", "DB_2.FF.N_ff.a", "N.a"};
  const std::set<std::string> zeros{"DB_1.N_ca.b", "DB_1.CA.B", "DB_1.FF.N_ff.b", "DB_1.FF.K", "DB_1.FF.L",
                                    "DB_2.N_ca.b", "DB_2.CA.B", "DB_2.FF.N_ff.b", "DB_2.FF.K", "DB_2.FF.L",
                                    "N.b",         "Φ.B"};
  Generator generator{20}, again{20};
  SmallLM<Block::definition> model;
  initialize_glorot(model, generator);
  for (const auto& W : parameters(model)) {
    const std::string path{W.path};
    CAPTURE(path);
    const double bound = std::sqrt(6.0 / double(W.rows + W.cols));
    for (const double w : W)
      CHECK(std::abs(w - (ones.contains(path)    ? 1
                          : zeros.contains(path) ? 0
                                                 : (2 * again.uniform() - 1) * bound)) <= 1e-15);
  }
}

}  // namespace tlm::tests::in_training
