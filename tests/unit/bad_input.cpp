// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../layers.hpp"

using namespace tlm;
using namespace tlm::tests;

namespace {

using Model = SmallLM<Block::definition>;
using Weights = Matrix<n, 1, double>;

const Model model;

double loss_of(const Tokens& x, const Weights& omega) { return loss(model, Batch<double>{0, x, omega}); }

constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a token outside the vocabulary") {
  CHECK_THROWS_WITH_AS(model(Tokens{0, 5}), "token 5 is not in the vocabulary: tokens are 0 to 4", std::out_of_range);
  CHECK_THROWS_WITH_AS(model(Tokens{-1}), "token -1 is not in the vocabulary: tokens are 0 to 4", std::out_of_range);
  CHECK_THROWS_WITH_AS(model.value_and_pullback(Tokens{7}), "token 7 is not in the vocabulary: tokens are 0 to 4",
                       std::out_of_range);
  CHECK_THROWS_WITH_AS(decode(model, {9}, {0, 0, max_len}), "token 9 is not in the vocabulary: tokens are 0 to 4",
                       std::out_of_range);

  // The last token of a sequence is never read by the model, and all the same it needs a row of probabilities.
  CHECK_THROWS_WITH_AS(loss(model, unweighted<double>(0, Tokens{1, 5})),
                       "token 5 is not in the vocabulary: tokens are 0 to 4", std::out_of_range);
  CHECK_THROWS_WITH_AS(loss(model, unweighted<double>(0, Tokens{1, -3})),
                       "token -3 is not in the vocabulary: tokens are 0 to 4", std::out_of_range);
}

TEST_CASE("an empty sequence has no loss") {
  const Sequences second_empty = Sequences::of_lengths({2, 0, 1});
  CHECK_THROWS_WITH_AS(loss_of(Tokens{second_empty, 1}, Weights{second_empty, 1.0}),
                       "sequence 2 of the batch is empty: a loss needs a token", std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss(model, unweighted<double>(0, Tokens{std::vector<Token>{}})),
                       "sequence 1 of the batch is empty: a loss needs a token", std::invalid_argument);
  CHECK_THROWS_WITH_AS(preceded_by(0, Tokens{}), "a batch needs at least one sequence; this one is empty",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss_of(Tokens{}, Weights{}), "a batch needs at least one sequence; this one is empty",
                       std::invalid_argument);
}

TEST_CASE("a sequence longer than max_len") {
  const auto longer = [](std::size_t length) { return Tokens{Sequences{length}, 1}; };
  CHECK_NOTHROW(model(longer(max_len)));
  CHECK_THROWS_WITH_AS(model(longer(max_len + 1)), "a sequence of 10 tokens is too long: max_len is 9",
                       std::length_error);
  CHECK_THROWS_WITH_AS(loss(model, unweighted<double>(0, longer(12))),
                       "a sequence of 12 tokens is too long: max_len is 9", std::length_error);

  State<Model> state{};
  extend(model, state, longer(8));
  CHECK_THROWS_WITH_AS(extend(model, state, longer(3)), "a sequence of 11 tokens is too long: max_len is 9",
                       std::length_error);
}

TEST_CASE("an input that is too long to be continued") {
  CHECK_THROWS_WITH_AS(decode(model, {1, 2, 3}, {0, 0, 3}),
                       "an input of 3 tokens is too long: with the token that starts there is room for 3 tokens",
                       std::length_error);
  CHECK_NOTHROW(decode(model, {1, 2, 3}, {0, 0, 4}));
  CHECK_THROWS_AS(decode(model, {}, {0, 0, 0}), std::length_error);
}

TEST_CASE("loss weights outside [0, 1]") {
  CHECK_THROWS_WITH_AS(loss_of({1, 2}, {0.5, 1.5}), "loss weight 1.5 is not from [0, 1]", std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss_of({1, 2}, {-0.25, 0.5}), "loss weight -0.25 is not from [0, 1]", std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss_of({1, 2}, {NaN, 0.5}), "loss weight nan is not from [0, 1]", std::invalid_argument);
  CHECK_NOTHROW(loss_of({1, 2}, {0, 1}));
}

TEST_CASE("loss weights that sum to 0, unless they are those of a part") {
  const Batch<double> weightless{0, {1, 2}, {0, 0}};
  const char* const sentence = "the loss weights of a batch sum to 0: there is nothing to average";
  CHECK_THROWS_WITH_AS(loss(model, weightless), sentence, std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss(model, weightless, Mean{}), sentence, std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss(model, weightless, Sum{}), sentence, std::invalid_argument);
  Model gradient;
  CHECK_THROWS_WITH_AS(loss_and_gradient(model, weightless, gradient, Sum{}), sentence, std::invalid_argument);
  CHECK(loss(model, weightless, PartOf<double>{3}) == 0);
}

TEST_CASE_TEMPLATE("a number of an optimizer out of its range moves nothing", Real, float, double) {
  using Layer = Plus<"B", 2, Real>;
  Layer layer{.B = {1, 2}};
  const Layer unmoved = layer, gradient{.B = {4, -8}};
  const auto refuses = [&](auto optimizer, const std::string& name, const std::string& limit,
                           const std::string& value) {
    const std::string sentence = name + " must be " + limit + " when rounded to the model's numbers, not " + value;
    CHECK_THROWS_WITH_AS(optimizer(layer, gradient), sentence.c_str(), std::invalid_argument);
    CHECK(layer.B == unmoved.B);
  };
  const std::string positive = "finite and greater than 0", below_one = "at least 0 and less than 1";
  for (const auto& [value, text] :
       {std::pair{0.0, "0"}, {-1.0, "-1"}, {NaN, "nan"}, {std::numeric_limits<double>::infinity(), "inf"}}) {
    refuses(SGD{value}, "the learning rate of SGD", positive, text);
    refuses(Adam<Layer>{.learning_rate = value}, "the learning rate of Adam", positive, text);
    refuses(Adam<Layer>{.epsilon = value}, "epsilon of Adam", positive, text);
  }
  for (const auto& [value, text] : {std::pair{1.0, "1"}, {-0.5, "-0.5"}, {1.5, "1.5"}, {NaN, "nan"}}) {
    refuses(Adam<Layer>{.beta_1 = value}, "beta_1 of Adam", below_one, text);
    refuses(Adam<Layer>{.beta_2 = value}, "beta_2 of Adam", below_one, text);
  }
  // What a double can tell from 1 and from 0, and a float cannot.
  if constexpr (std::is_same_v<Real, float>) {
    refuses(Adam<Layer>{.beta_2 = 0.99999999}, "beta_2 of Adam", below_one, "0.99999999");
    refuses(SGD{1e-60}, "the learning rate of SGD", positive, "1e-60");
  } else {
    CHECK_NOTHROW((Adam<Layer>{.beta_2 = 0.99999999}(layer, gradient)));
    CHECK_NOTHROW(SGD{1e-60}(layer, gradient));
  }

  // An optimizer that has refused begins at its first step.
  Adam<Layer> corrected{.beta_1 = 1}, fresh;
  CHECK_THROWS_AS(corrected(layer, gradient), std::invalid_argument);
  corrected.beta_1 = fresh.beta_1;
  Layer by_corrected, by_fresh;
  corrected(by_corrected, gradient);
  fresh(by_fresh, gradient);
  CHECK(by_corrected.B == by_fresh.B);
}

TEST_CASE("a token that starts and is not in the vocabulary") {
  CHECK_THROWS_WITH_AS(loss(model, unweighted<double>(5, Tokens{1})),
                       "token 5 is not in the vocabulary: tokens are 0 to 4", std::out_of_range);
  CHECK_THROWS_WITH_AS(decode(model, {1}, {-2, 0, max_len}), "token -2 is not in the vocabulary: tokens are 0 to 4",
                       std::out_of_range);
}

TEST_CASE("loss weights of another shape than the tokens") {
  CHECK_THROWS_WITH_AS(loss_of({1, 2}, {1}),
                       "the loss weights have another shape than the tokens: 1 weights in 1 sequences, 2 tokens in 1",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss_of(stack<1, Token>({{1}, {2, 3}}), stack<1, double>({{1, 1}, {1}})),
                       "the loss weights have another shape than the tokens: 3 weights in 2 sequences, 3 tokens in 2",
                       std::invalid_argument);
}

TEST_CASE("a stack continued by another number of sequences") {
  const auto tokens = [](std::size_t count) {
    return Tokens{Sequences::of_lengths(std::vector<std::size_t>(count, 1)), 1};
  };
  State<Model> state{};
  extend(model, state, tokens(2));
  CHECK_THROWS_WITH_AS(extend(model, state, tokens(3)), "a stack of 2 sequences cannot be continued by 3",
                       std::invalid_argument);

  using PE = PositionalEncoding<max_len, 1, double>;
  State<PE> position{};
  extend(PE{}, position, {1, 2});
  CHECK_THROWS_WITH_AS(extend(PE{}, position, stack<1, double>({{1}, {2}})),
                       "a stack of 1 sequences cannot be continued by 2", std::invalid_argument);
}

TEST_CASE("a refused extension of PE leaves its state as it was: the right continuation gives the rows of the whole") {
  using PE = PositionalEncoding<3, 2, double>;
  using Rows = PE::domain;
  const auto of_lengths = [](std::vector<std::size_t> lengths) { return Rows{Sequences::of_lengths(lengths), 1.0}; };
  Generator generator{3};
  const auto layer = random_layer<PE>(generator);

  State<PE> state;
  CHECK_THROWS_WITH_AS(extend(layer, state, of_lengths({2, 4})), "a sequence of 4 tokens is too long: max_len is 3",
                       std::length_error);
  CHECK(extend(layer, state, of_lengths({2, 1})) == layer(of_lengths({2, 1})));
  CHECK_THROWS_WITH_AS(extend(layer, state, of_lengths({1, 3})), "a sequence of 4 tokens is too long: max_len is 3",
                       std::length_error);
  CHECK_THROWS_AS(extend(layer, state, of_lengths({1, 1, 1})), std::invalid_argument);
  const auto whole = layer(of_lengths({3, 3}));
  CHECK(extend(layer, state, of_lengths({1, 2})) ==
        stack<2, double>({rows(sequence(whole, 0), 2, 1), rows(sequence(whole, 1), 1, 2)}));
}

TEST_CASE(
    "a refused extension of T_LM leaves its state as it was: the right continuation gives the rows of the whole") {
  Generator generator{4};
  const auto T_LM = random_layer<Model>(generator);
  const Tokens x{3, 1, 4, 1, 0};
  const auto whole = T_LM(x);
  State<Model> state;
  CHECK_THROWS_AS(extend(T_LM, state, Tokens{3, 5}), std::out_of_range);
  extend(T_LM, state, rows(x, 0, 2));
  CHECK_THROWS_AS(extend(T_LM, state, Tokens{4, -1}), std::out_of_range);
  CHECK_THROWS_AS(extend(T_LM, state, Tokens{Sequences{max_len}, 1}), std::length_error);
  CHECK_THROWS_AS(extend(T_LM, state, stack<1, Token>({{4}, {4}})), std::invalid_argument);
  CHECK(distance(extend(T_LM, state, rows(x, 2, 3)), rows(whole, 2, 3)) <= 1e-13);
}

TEST_CASE("what fails leaves the gradient as it was") {
  Generator generator{1};
  Model gradient = random_layer<Model>(generator);
  const Model before = gradient;
  CHECK_THROWS(loss_and_gradient(model, unweighted<double>(0, Tokens{1, 5}), gradient));
  CHECK_THROWS(loss_and_gradient(model, unweighted<double>(0, Tokens{Sequences{12}, 1}), gradient));
  CHECK(distance_of_weights(gradient, before) == 0);
}
