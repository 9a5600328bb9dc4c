#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "../layers.hpp"

using namespace tlm;
using namespace tlm::tests;

namespace {

using Model = SmallLM<Block::definition>;
using Weights = Matrix<n, 1, double>;

const Model model;

double loss_of(const Tokens& x, const Weights& omega) { return loss(model, Batch<double>{x, omega}); }

constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a token outside the vocabulary") {
  CHECK_THROWS_WITH_AS(model(Tokens{0, 5}), "token 5 is not in the vocabulary: tokens are 0 to 4", std::out_of_range);
  CHECK_THROWS_WITH_AS(model(Tokens{-1}), "token -1 is not in the vocabulary: tokens are 0 to 4", std::out_of_range);
  CHECK_THROWS_WITH_AS(model.value_and_pullback(Tokens{7}), "token 7 is not in the vocabulary: tokens are 0 to 4",
                       std::out_of_range);
  CHECK_THROWS_WITH_AS(greedy(model, {9}, max_len), "token 9 is not in the vocabulary: tokens are 0 to 4",
                       std::out_of_range);

  // The last token of a sequence is never read by the model, and all the same it needs a row of probabilities.
  CHECK_THROWS_WITH_AS(loss(model, unweighted<double>(Tokens{1, 5})),
                       "token 5 is not in the vocabulary: tokens are 0 to 4", std::out_of_range);
  CHECK_THROWS_WITH_AS(loss(model, unweighted<double>(Tokens{1, -3})),
                       "token -3 is not in the vocabulary: tokens are 0 to 4", std::out_of_range);
}

TEST_CASE("an empty sequence has no loss") {
  const Sequences second_empty = Sequences::of_lengths({2, 0, 1});
  CHECK_THROWS_WITH_AS(loss_of(Tokens{second_empty, 1}, Weights{second_empty, 1.0}),
                       "sequence 2 of the batch is empty: a loss needs a token", std::invalid_argument);
  CHECK_THROWS_WITH_AS(preceded_by_0(Tokens{}), "a batch needs at least one sequence; this one is empty",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss_of(Tokens{}, Weights{}), "a batch needs at least one sequence; this one is empty",
                       std::invalid_argument);
}

TEST_CASE("a sequence longer than max_len") {
  const auto longer = [](std::size_t length) { return Tokens{Sequences{length}, 1}; };
  CHECK_NOTHROW(model(longer(max_len)));
  CHECK_THROWS_WITH_AS(model(longer(max_len + 1)), "a sequence of 10 tokens is too long: max_len is 9",
                       std::length_error);
  CHECK_THROWS_WITH_AS(loss(model, unweighted<double>(longer(12))), "a sequence of 12 tokens is too long: max_len is 9",
                       std::length_error);

  State<Model> state{};
  extend(model, state, longer(8));
  CHECK_THROWS_WITH_AS(extend(model, state, longer(3)), "a sequence of 11 tokens is too long: max_len is 9",
                       std::length_error);
}

TEST_CASE("an input that is too long to be continued") {
  CHECK_THROWS_WITH_AS(greedy(model, {1, 2, 3}, 3),
                       "an input of 3 tokens is too long: with the leading 0 there is room for 3 tokens",
                       std::length_error);
  CHECK_NOTHROW(greedy(model, {1, 2, 3}, 4));
}

TEST_CASE("loss weights outside [0, 1]") {
  CHECK_THROWS_WITH_AS(loss_of({1, 2}, {0.5, 1.5}), "loss weight 1.5 is not from [0, 1]", std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss_of({1, 2}, {-0.25, 0.5}), "loss weight -0.25 is not from [0, 1]", std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss_of({1, 2}, {NaN, 0.5}), "loss weight nan is not from [0, 1]", std::invalid_argument);
  CHECK_NOTHROW(loss_of({1, 2}, {0, 1}));
}

TEST_CASE("loss weights that sum to 0") {
  CHECK_THROWS_WITH_AS(loss_of({1, 2}, {0, 0}), "the loss weights of a batch sum to 0: there is nothing to average",
                       std::invalid_argument);
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

TEST_CASE("what fails leaves the gradient as it was") {
  Generator generator{1};
  Model gradient = random_layer<Model>(generator);
  const Model before = gradient;
  CHECK_THROWS(loss_and_gradient(model, unweighted<double>(Tokens{1, 5}), gradient));
  CHECK_THROWS(loss_and_gradient(model, unweighted<double>(Tokens{Sequences{12}, 1}), gradient));
  CHECK(distance_of_weights(gradient, before) == 0);
}
