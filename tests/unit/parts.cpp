// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "../shapes.hpp"

namespace tlm::tests::in_parts {

namespace {

using Model = SmallLM<Block::definition>;
constexpr Token start = 3;
constexpr double NaN = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("a batch is split between sequences, in their order, each with its weights") {
  const Batch<> batch{start, {{1, 2}, {3}, {4, 4, 4}}, {{1, 0.5}, {0.25}, {0, 1, 0}}};
  const auto parts = micro_batches(batch, 2).batches;
  REQUIRE(parts.size() == 2);
  CHECK((parts[0].start == start && parts[1].start == start));
  CHECK(parts[0].x == Tokens{{1, 2}, {3}});
  CHECK(parts[0].omega == Matrix<n, 1>{{1, 0.5}, {0.25}});
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
  const auto model = random_layer<Model>(Generator{4});
  const auto nothing = Batch<double>{start, {{1, 2}}, {{0, 0}}}, wrong = Batch<double>{start, {{1, 9}}, {{1, 1}}};
  CHECK_THROWS_WITH_AS(loss(model, MicroBatches<Batch<double>>{}),
                       "a batch in parts needs at least one part; this one has none", std::invalid_argument);
  CHECK_THROWS_WITH_AS(loss(model, MicroBatches<Batch<double>>{{nothing, nothing}}),
                       "the loss weights of a batch sum to 0: no token counts", std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      loss(model, MicroBatches<Batch<double>>{{nothing, wrong}}),
      "token 9, to be predicted at position 2 of sequence 1, is not in the vocabulary: tokens are 0 to 4",
      std::out_of_range);
  CHECK(loss(model, MicroBatches<Batch<double>>{{nothing, nothing}}, DividedBy<double>{1}) == 0);
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

}  // namespace tlm::tests::in_parts
