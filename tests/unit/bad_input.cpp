// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../shapes.hpp"

namespace tlm::tests::in_bad_input {

namespace {

using Model = SmallLM<Block::definition>;
using Weights = Matrix<n, 1, double>;

const Model model;

/// The sentence by which the loss of a batch is refused, or "".
std::string refusal_of_loss(const Tokens& x, const Weights& omega) {
  return refusal<std::invalid_argument>([&] { loss(model, Batch<double>{0, x, omega}); });
}

constexpr double NaN = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("a token outside the vocabulary, with its place") {
  const auto refuses = [](const std::string& token, const std::string& where, const auto& action) {
    CHECK(refusal<std::out_of_range>(action) ==
          "token " + token + ", " + where + ", is not in the vocabulary: tokens are 0 to 4");
  };
  refuses("5", "read at position 2 of sequence 1", [] { model(Tokens{0, 5}); });
  refuses("-1", "read at position 3 of sequence 3", [] { model(Tokens{{0, 1}, {}, {2, 3, -1, 7}}); });
  refuses("7", "read at position 1 of sequence 1", [] { model.value_and_pullback(Tokens{7}); });
  refuses("5", "read at position 5 of sequence 1", [] { require_in_vocabulary(Tokens{1, 5}, 5, "read", 3); });
  const Tied<TiedWeight<"W_e", 5, 2, double>, TiedEmbedding<"W_e", 5, 2, double>> tied;
  refuses("5", "read at position 1 of sequence 2", [&] { tied(Tokens{{0, 1}, {5}}); });
  refuses("5", "read at position 1 of sequence 2", [&] { tied.value_and_pullback(Tokens{{0, 1}, {5}}); });

  // What is given has the places that it has there. The start token is the first one that the model reads.
  refuses("9", "given at position 2 of sequence 1", [] { decode(model, {1, 9}, {0, 0, max_len}); });
  refuses("-2", "read at position 1 of sequence 1", [] { decode(model, {1}, {-2, 0, max_len}); });
  refuses("5", "read at position 1 of sequence 1", [] { loss(model, unweighted<double>(5, Tokens{1})); });
  Model gradient;
  refuses("5", "read at position 1 of sequence 1",
          [&] { loss_and_gradient(model, unweighted<double>(5, Tokens{1}), gradient); });

  // The model never reads the last token of a sequence. Nevertheless that token needs a row of probabilities.
  const auto loss_of = [](const Tokens& x) { return [=] { loss(model, unweighted<double>(0, x)); }; };
  refuses("5", "to be predicted at position 2 of sequence 2", loss_of({{3}, {1, 5}}));
  refuses("-3", "to be predicted at position 2 of sequence 1", loss_of({1, -3}));
}

TEST_CASE("an empty sequence has no loss") {
  CHECK(refusal_of_loss({{1, 2}, {}, {3}}, {{1, 0.5}, {}, {1}}) ==
        "sequence 2 of the batch is empty: a loss needs a token");
  CHECK(refusal_of_loss(Tokens{{}}, Weights{{}}) == "sequence 1 of the batch is empty: a loss needs a token");
  const char* const no_sequence = "a batch needs at least one sequence; this one is empty";
  CHECK(refusal_of_loss(Tokens{}, Weights{}) == no_sequence);
  CHECK_THROWS_WITH_AS(detail::after_start(0, Tokens{}), no_sequence, std::invalid_argument);
}

TEST_CASE("a sequence longer than max_len") {
  const auto longer = [](std::size_t length) { return Tokens{Sequences{length}, 1}; };
  CHECK_NOTHROW(model(longer(max_len)));
  CHECK_THROWS_WITH_AS(model(longer(max_len + 1)), "sequence 1, of 10 tokens, is too long: max_len is 9",
                       std::length_error);
  CHECK_THROWS_WITH_AS(loss(model, unweighted<double>(0, longer(12))),
                       "sequence 1, of 12 tokens, is too long: max_len is 9", std::length_error);

  State<Model> state{};
  advance(model, state, longer(8));
  CHECK_THROWS_WITH_AS(advance(model, state, longer(3)), "sequence 1, of 11 tokens, is too long: max_len is 9",
                       std::length_error);
}

TEST_CASE("an input that is too long to be continued") {
  CHECK_THROWS_WITH_AS(decode(model, {1, 2, 3}, {0, 0, 3}),
                       "a text begins with 4 tokens, the start token among them, and there is room for 3",
                       std::length_error);
  CHECK_NOTHROW(decode(model, {1, 2, 3}, {0, 0, 4}));
  CHECK_THROWS_AS(decode(model, {}, {0, 0, 0}), std::length_error);
}

TEST_CASE("a sentence is its words, and its numbers in the fewest digits that are read as the same") {
  const std::string word = "rows";
  CHECK(detail::sentence({"there are ", std::size_t{3}, " ", word, std::string_view{", not "}, -4}) ==
        "there are 3 rows, not -4");
  CHECK(detail::sentence({0.1f, " ", 0.1, " ", 0.99999999, " ", 1.5, " ", 1e300}) == "0.1 0.1 0.99999999 1.5 1e+300");
  CHECK(detail::sentence({}) == "");
  CHECK_THROWS_WITH_AS(refuse<std::out_of_range>({"there is no row ", 7}), "there is no row 7", std::out_of_range);
}

TEST_CASE("loss weights outside [0, 1]") {
  const auto outside = [](const std::string& token, const std::string& value) {
    return "the loss weight of token " + token + " is " + value + ", which is not from [0, 1]";
  };
  CHECK(refusal_of_loss({1, 2}, {0.5, 1.5}) == outside("2 of sequence 1", "1.5"));
  CHECK(refusal_of_loss({{1, 2}, {3, 4}}, {{1, 1}, {-0.25, 0.5}}) == outside("1 of sequence 2", "-0.25"));
  CHECK(refusal_of_loss({1, 2}, {NaN, 0.5}) == outside("1 of sequence 1", "nan"));
  CHECK(refusal_of_loss({1, 2}, {-NaN, 0.5}) == outside("1 of sequence 1", "-nan"));
  CHECK(refusal_of_loss({1, 2}, {0, 1}) == "");
}

TEST_CASE("loss weights that sum to 0, unless they are those of a part") {
  const Batch<double> weightless{0, {1, 2}, {0, 0}};
  const char* const sentence = "the loss weights of a batch sum to 0: no token counts";
  CHECK(refusal_of_loss(weightless.x, weightless.omega) == sentence);
  CHECK_THROWS_WITH_AS(loss(model, weightless, Sum{}), sentence, std::invalid_argument);
  Model gradient;
  CHECK_THROWS_WITH_AS(loss_and_gradient(model, weightless, gradient, Sum{}), sentence, std::invalid_argument);
  CHECK(loss(model, weightless, DividedBy<double>{3}) == 0);
}

TEST_CASE_TEMPLATE("a number of an optimizer out of its range moves nothing", Real, float, double) {
  using Layer = Plus<"B", 2, Real>;
  Layer layer{.B = {1, 2}};
  const Layer unmoved = layer;
  Layer gradient{.B = {4, -8}};
  const auto refuses = [&](auto optimizer, const std::string& name, const std::string& limit, const std::string& value,
                           const std::string& rounded = "") {
    CHECK(refusal<std::invalid_argument>([&] { optimizer(layer, gradient); }) ==
          name + " must be " + limit + rounded + ", not " + value);
    CHECK(layer.B == unmoved.B);
  };
  const std::string positive = "finite and greater than 0", below_one = "at least 0 and less than 1";
  for (const auto& [value, text] : {std::pair{0.0, "0"}, {-1.0, "-1"}, {NaN, "nan"}, {infinity, "inf"}}) {
    refuses(SGD{value}, "the learning rate of SGD", positive, text);
    refuses(Adam<Layer>{.learning_rate = value}, "the learning rate of Adam", positive, text);
    refuses(Adam<Layer>{.epsilon = value}, "epsilon of Adam", positive, text);
    refuses(Clipped{SGD{}, value}, "the limit of Clipped", positive, text);
    if (value != 0) refuses(Adam<Layer>{.weight_decay = value}, "weight_decay of Adam", "finite and at least 0", text);
  }
  for (const auto& [value, text] : {std::pair{1.0, "1"}, {-0.5, "-0.5"}, {1.5, "1.5"}, {NaN, "nan"}}) {
    refuses(Adam<Layer>{.beta_1 = value}, "beta_1 of Adam", below_one, text);
    refuses(Adam<Layer>{.beta_2 = value}, "beta_2 of Adam", below_one, text);
  }
  // What a double can tell from 1 and from 0, and a float cannot.
  if constexpr (std::is_same_v<Real, float>) {
    const char* const rounded = " when rounded to the model's numbers";
    refuses(Adam<Layer>{.beta_2 = 0.99999999}, "beta_2 of Adam", below_one, "0.99999999", rounded);
    refuses(SGD{1e-60}, "the learning rate of SGD", positive, "1e-60", rounded);
  } else {
    CHECK_NOTHROW((Adam<Layer>{.beta_2 = 0.99999999}(layer, gradient)));
    CHECK_NOTHROW(SGD{1e-60}(layer, gradient));
  }

  // An optimizer that has refused begins at its first step. (It looks at its decay last.)
  Adam<Layer> corrected{.weight_decay = -1}, fresh;
  CHECK_THROWS_AS(corrected(layer, gradient), std::invalid_argument);
  corrected.weight_decay = 0;
  Layer by_corrected, by_fresh;
  corrected(by_corrected, gradient);
  fresh(by_fresh, gradient);
  CHECK(by_corrected.B == by_fresh.B);
}

TEST_CASE("loss weights that do not fit the tokens") {
  const auto fit = [](const std::string& number, int tokens, int weights) {
    return "the number of " + number + " is " + std::to_string(tokens) + " in the tokens, but " +
           std::to_string(weights) + " in the loss weights";
  };
  CHECK(refusal_of_loss({1, 2}, {1}) == fit("rows of sequence 1", 2, 1));
  CHECK(refusal_of_loss({{1}, {2, 3}}, {{1, 1}, {1}}) == fit("rows of sequence 1", 1, 2));
  CHECK(refusal_of_loss({{1}, {2, 3}}, {1, 1, 1}) == fit("sequences", 2, 1));
  CHECK(refusal_of_loss({{1, 2}, {}, {3}}, {{1, 0.5}, {1}}) == fit("sequences", 3, 2));
  CHECK(refusal_of_loss({{1}, {2, 3}}, {{1}, {1, 0.5}}) == "");
}

TEST_CASE("what fails leaves the gradient as it was") {
  Model gradient = random_layer<Model>(Generator{1});
  const Model before = gradient;
  CHECK_THROWS(loss_and_gradient(model, unweighted<double>(0, Tokens{1, 5}), gradient));
  CHECK_THROWS(loss_and_gradient(model, unweighted<double>(0, Tokens{Sequences{12}, 1}), gradient));
  CHECK(distance_of_weights(gradient, before) == 0);
}

namespace {

using Rows = Matrix<n, 2, double>;

/// Says that it is rowwise, and leaves out the last row of all.
struct Forgetful {
  using declared = is::Rowwise;
  using domain = Rows;
  using codomain = Rows;
  static codomain shortened(const domain& X) {
    return X.rows() == 0 ? X : Rows{std::vector<double>(X.data(), X.data() + 2 * X.rows() - 2)};
  }
  codomain operator()(const domain& X) const { return shortened(X); }
  auto value_and_pullback(const domain& X) const {
    return with_pullback(shortened(X), [](codomain Y_bar, Forgetful&) { return Y_bar; });
  }
  static constexpr void weights(auto&&, auto&) {}
};

/// Returns X̄ without its last row.
struct ForgetsBackwards : Forgetful {
  codomain operator()(const domain& X) const { return X; }
  auto value_and_pullback(const domain& X) const {
    return with_pullback(X, [](codomain Y_bar, ForgetsBackwards&) { return shortened(Y_bar); });
  }
};

template <Symbol letter>
using Square = Times<letter, 2, 2, double>;
using ToScores = Times<"Y", 2, 3, double>;
using FromTokens = Embedding<3, 2, double>;

/// The refusals when F is applied to X, and when it is differentiated there.
template <class F>
std::string refusal_of(const typename F::domain& X) {
  return refusal<std::invalid_argument>([&] { F{}(X); });
}
template <class F>
std::string refusal_of_gradient(const typename F::domain& X) {
  const F f{};
  F gradient;
  return refusal<std::invalid_argument>([&] {
    auto [Y, pullback] = f.value_and_pullback(X);
    pullback(std::move(Y), gradient);
  });
}

/// Requires that F refuses X in both cases, and to be extended by X, if it can be.
template <class F>
void refuses(const typename F::domain& X, const std::string& sentence) {
  CHECK(refusal_of<F>(X) == sentence);
  CHECK(refusal_of_gradient<F>(X) == sentence);
  if constexpr (autoregressive<F>) {
    State<F> state;
    CHECK(refusal<std::invalid_argument>([&] { advance(F{}, state, X); }) == sentence);
  }
}

}  // namespace

TEST_CASE("a layer that returns fewer rows than it takes is refused wherever they would be read") {
  const Rows X{1, 2, 3, 4, 5, 6};
  CHECK(refusal_of<Res<Forgetful>>(X) ==
        "the number of rows of sequence 1 is 3 in a sum, but 2 in what is added to it");
  CHECK(refusal_of_gradient<Res<Forgetful>>(X) ==
        "the number of rows of sequence 1 is 2 in a sum, but 3 in what is added to it");
  CHECK(refusal_of<Stack<Res<Forgetful>, 2>>(X) ==
        "the number of rows of sequence 1 is 3 in a sum, but 2 in what is added to it");
  const std::string side_by_side =
      "the number of rows of sequence 1 is 3 in what is on the left, but 2 in what is on the right";
  refuses<Concat<Square<"A">, Forgetful>>(X, side_by_side);

  // As queries, they are taken for the last ones. As keys and values, there are too few. As values, there are fewer
  // than keys.
  refuses<Attention<1, Causal, Square<"Q">, Forgetful, Forgetful>>(X,
                                                                   "3 queries cannot be the last of only 2 positions");
  const std::string values = "the number of rows of sequence 1 is 3 in the keys, but 2 in the values";
  refuses<Attention<1, Causal, Square<"Q">, Square<"K">, Forgetful>>(X, values);

  using WrongModel = Composition<ToScores, Forgetful, FromTokens>;
  const auto batch = unweighted<double>(0, Tokens{{1, 2}, {1}});
  const std::string scores =
      "the number of sequences is 2 in the tokens to be predicted, but 1 in the scores of the model";
  WrongModel gradient;
  CHECK(refusal<std::invalid_argument>([&] { loss(WrongModel{}, batch); }) == scores);
  CHECK(refusal<std::invalid_argument>([&] { loss_and_gradient(WrongModel{}, batch, gradient); }) == scores);
  for (const std::size_t length : {0u, 1u}) {
    const auto rows = detail::sentence({"the number of rows of sequence 1 is ", length + 1,
                                        " in what the model reads, but ", length, " in the scores that it returns"});
    CHECK(refusal<std::invalid_argument>([&] {
            decode(WrongModel{}, std::vector<Token>(length, 1), {0, 0, 9});
          }) == rows);
  }

  // A memory of other rows than X, where rows of X are taken from it.
  const Rows two_rows{1, 2, 3, 4};
  using proofs::WithMemory;
  refuses<WithMemory<Concat<Square<"A">, FromMemory<Square<"B">>>>>({two_rows, X}, side_by_side);
  using Added = WithMemory<Res<FromMemory<Square<"B">>>>;
  const auto stack = [](std::size_t a, std::size_t b) { return Rows{Sequences::of_lengths({a, b}), 1.0}; };
  const std::string row = "the number of rows of sequence 1 is ", more = " in a sum, but ",
                    end = " in what is added to it";
  CHECK(refusal_of<Added>({stack(2, 2), stack(1, 3)}) == row + "1" + more + "2" + end);
  CHECK(refusal_of_gradient<Added>({stack(2, 2), stack(1, 3)}) == row + "2" + more + "1" + end);
  refuses<WithMemory<Attention<1, Unmasked, Square<"Q">, Square<"K">, FromMemory<Square<"V">>>>>({two_rows, X}, values);
  refuses<WithMemory<Attention<1, Unmasked, Square<"Q">, FromMemory<Square<"K">>, FromMemory<Forgetful>>>>({X, X},
                                                                                                           values);

  // With layers that return what they take none of this is refused.
  CHECK(refusal_of_gradient<Concat<Square<"A">, Square<"B">>>(X) == "");
  CHECK(refusal_of_gradient<Attention<1, Causal, Square<"Q">, Square<"K">, Square<"V">>>(X) == "");
}

TEST_CASE("a cotangent of another shape than the value is refused by every pullback, before anything is added") {
  const std::string sentence = "the number of rows of sequence 1 is 3 in Y, but 2 in Y_bar";
  const Rows X{1, 2, 3, 4, 5, 6};
  CHECK(refusal_of_gradient<Composition<ForgetsBackwards, Square<"A">>>(X) == sentence);
  CHECK(refusal_of_gradient<Stack<ForgetsBackwards, 2>>(X) == sentence);
  CHECK(refusal_of_gradient<Res<ForgetsBackwards>>(X) ==
        "the number of rows of sequence 1 is 2 in a sum, but 3 in what is added to it");
  CHECK(refusal_of_gradient<Concat<ForgetsBackwards, Square<"A">>>(X) ==
        "the number of rows of sequence 1 is 2 in a sum, but 3 in what is added to it");

  const auto refused = []<class F>(const F& layer, const typename F::domain& input) {
    F gradient;
    const auto before = gradient;
    auto [Y, pullback] = layer.value_and_pullback(input);
    using Y_type = decltype(Y);
    const Y_type fewer{Sequences{Y.rows() - 1}, 1.0}, more{Sequences{Y.rows() + 1}, 1.0};
    const Y_type apart{Sequences::of_lengths({1, Y.rows() - 1}), 1.0};
    CHECK_THROWS_AS(pullback(fewer, gradient), std::invalid_argument);
    CHECK_THROWS_AS(pullback(more, gradient), std::invalid_argument);
    CHECK_THROWS_AS(pullback(apart, gradient), std::invalid_argument);
    CHECK(distance_of_weights(gradient, before) == 0);
    CHECK_NOTHROW(pullback(Y_type{Y.sequences(), 1.0}, gradient));
  };
  refused(Square<"A">{}, X);
  refused(Plus<"B", 2, double>{}, X);
  refused(ReLU<2, double>{}, X);
  refused(Softmax<2, double>{}, X);
  refused(Normalization<"N", 2, double>{}, X);
  refused(PositionalEncoding<4, 2, double>{}, X);
  refused(FromTokens{}, {0, 1, 2});
  refused(Attention<1, Causal, Square<"Q">, Square<"K">, Square<"V">>{}, X);
  refused(model, {0, 1, 2});
}

TEST_CASE("a block of as many rows as can be counted is all of them") {
  using InOne = Attention<1, Causal, Square<"Q">, Square<"K">, Square<"V">, NoBias, std::size_t(-1)>;
  using ByRow = Attention<1, Causal, Square<"Q">, Square<"K">, Square<"V">, NoBias, 1>;
  Generator generator{5};
  const auto in_one = random_layer<InOne>(generator);
  ByRow by_row;
  by_row.q = in_one.q, by_row.k = in_one.k, by_row.v = in_one.v;
  const Rows X = random_rows<Rows>(unequal(), generator);
  CHECK(distance(in_one(X), by_row(X)) <= 1e-14);
}

TEST_CASE("sizes that cannot be are refused by a sentence, not by a number that has wrapped around") {
  constexpr auto huge = std::size_t(-1);
  CHECK_THROWS_WITH_AS(Sequences::of_lengths({2, huge}), "the rows of 2 sequences are too many to be counted",
                       std::length_error);
  CHECK_THROWS_WITH_AS((Matrix<n, 8, double>{Sequences{huge / 128 + 2}}),
                       "a matrix of 144115188075855873 rows of 8 is too large", std::length_error);
  CHECK_THROWS_AS((Matrix<n, 8, double>{Sequences{huge}, 1.0}), std::length_error);
}

}  // namespace tlm::tests::in_bad_input
