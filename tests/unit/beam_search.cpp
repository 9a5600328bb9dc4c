// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tlm/algebra/parameters.hpp>
#include <tlm/decoding/beam_search.hpp>
#include <tlm/layers/embedding.hpp>
#include <tlm/models/formulated_transformer.hpp>
#include <tlm/models/transformer_lm.hpp>

#include "../support.hpp"

namespace tlm::tests::in_beam_search {

namespace {

constexpr std::size_t size = 3;  // of the vocabulary
using LM = TransformerLM<Config{.vocab_size = size, .d_model = 6, .d_ff = 7, .n_layers = 2, .n_heads = 2, .max_len = 9},
                         double>;
using EncoderDecoderModel = formulated::Transformer<
    formulated::Config{.s = size, .d_model = 6, .d_ff = 7, .d_k = 3, .d_v = 5, .h = 2, .N = 1, .max_len = 9}, double>;

/// A beam search that computes everything again for every token.
template <class T>
std::vector<Found> recomputed(const T& model, const std::vector<Token>& given, const GenerationLimits& limits,
                              const Beam& beam) {
  constexpr bool has_source = detail::CanDecode<T>::of_source;
  std::vector<Found> open{{{limits.start}, 0, 0}}, ended;
  if (!has_source) open[0].text.insert(open[0].text.end(), given.begin(), given.end());
  for (std::size_t l = 1; !open.empty() && ended.size() < beam.width; ++l) {
    std::vector<Found> longer;
    for (const Found& beginning : open) {
      const auto Y = [&] {
        if constexpr (has_source)
          return log_softmax(before_softmax(model)({Tokens{given}, Tokens{beginning.text}}));
        else
          return log_softmax(before_softmax(model)(Tokens{beginning.text}));
      }();
      for (std::size_t j = 0; j < size; ++j) {
        const double log_p = beginning.log_p + Y(Y.rows() - 1, j);
        longer.push_back({beginning.text, log_p, beam.rank(log_p, l)});
        longer.back().text.push_back(Token(j));
      }
    }
    std::stable_sort(longer.begin(), longer.end(), [](const Found& a, const Found& b) { return a.log_p > b.log_p; });
    longer.resize(std::min(longer.size(), beam.width - ended.size()));
    open.clear();
    for (const Found& each : longer)
      (each.text.back() == limits.end || each.text.size() == limits.max_len ? ended : open).push_back(each);
  }
  std::stable_sort(ended.begin(), ended.end(), [](const Found& a, const Found& b) { return a.rank > b.rank; });
  for (Found& each : ended) each.text.erase(each.text.begin());
  return ended;
}

void must_be(const std::vector<Found>& found, const std::vector<Found>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i].text == expected[i].text);
    CHECK(std::abs(found[i].log_p - expected[i].log_p) <= 1e-12);
    CHECK(std::abs(found[i].rank - expected[i].rank) <= 1e-12);
  }
}

/// Generates token j after token t with the probability in row t, column j of a table, whatever was before.
Embedding<size, size, double> chain_of(const Matrix<size, size, double>& p) {
  Embedding<size, size, double> scores;
  for (std::size_t e = 0; e < size * size; ++e) scores.W_e.data()[e] = std::log(p.data()[e]);
  return scores;
}

}  // namespace

TEST_CASE_TEMPLATE("a beam with room for all finds all texts, with their probabilities, the best first", T, LM,
                   EncoderDecoderModel) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    for (const double alpha : {0.0, 0.6, 2.0}) {
      CAPTURE(seed);
      CAPTURE(alpha);
      const T model = random_layer<T>(Generator{seed});
      const std::vector<Token> given{2, 1};
      const GenerationLimits limits{
          .start = 1, .end = 0, .max_len = detail::CanDecode<T>::of_source ? 5u : 7u};  // up to 4 are generated
      const Beam beam{.width = 1000, .alpha = alpha};
      const auto found = beam_search(model, given, limits, beam);
      must_be(found, recomputed(model, given, limits, beam));
      CHECK(found.size() == 1 + 2 + 4 + 8 * 3);
      double total = 0;
      for (const Found& each : found) total += std::exp(each.log_p);
      CHECK(total == doctest::Approx(1).epsilon(1e-12));
    }
}

TEST_CASE_TEMPLATE("a narrow beam finds the same as a beam that computes everything again for every token", T, LM,
                   EncoderDecoderModel) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    for (const std::size_t width : {1u, 2u, 3u, 7u}) {
      CAPTURE(seed);
      CAPTURE(width);
      const T model = random_layer<T>(Generator{seed});
      const std::vector<Token> given{2};
      const GenerationLimits limits{.start = 1, .end = 0, .max_len = 8};
      const Beam beam{.width = width};
      const auto found = beam_search(model, given, limits, beam);
      must_be(found, recomputed(model, given, limits, beam));
      CHECK(found.size() == width);
    }
}

TEST_CASE("a beam finds a text that is likelier in the end, though another one is likelier at first") {
  // After 1: 2 is the likeliest, but nothing is likely after it; after 1 again comes the end.
  const auto chain = chain_of({1, 0x1p-60, 0x1p-60,  //
                               0.05, 0.45, 0.5,      //
                               0.3, 0.4, 0.3});
  const GenerationLimits limits{.start = 1, .end = 0, .max_len = 3};
  CHECK(decode(chain, {}, limits) == std::vector<Token>{2, 1});
  const auto found = beam_search(chain, {}, limits, {.width = 2});
  CHECK(found.front().text == std::vector<Token>{1, 2});  // 0.45·0.5 > 0.5·0.4
  CHECK(found.front().log_p == doctest::Approx(std::log(0.45 * 0.5)).epsilon(1e-12));
  CHECK(found.back().text == std::vector<Token>{1, 1});  // 0.45·0.45 > 0.5·0.4
}

TEST_CASE("the length rule: log p/((5 + l)/6)^α") {
  CHECK(Beam{.alpha = 0}.rank(-3, 7) == -3);
  CHECK(Beam{.alpha = 1}.rank(-3, 1) == -3);
  CHECK(Beam{.alpha = 1}.rank(-3, 7) == -1.5);
  CHECK(Beam{.alpha = 2}.rank(-4, 7) == -1);
  CHECK((Beam{}.width == 4 && Beam{}.alpha == 0.6));
  // A short text with p = 0.4, and a long one with 0.6·0.6. With α = 0 the first is better, with α = 1 the second.
  const auto chain = chain_of({1, 0x1p-60, 0x1p-60,  //
                               0.4, 0x1p-60, 0.6,    //
                               0.6, 0.2, 0.2});
  const GenerationLimits limits{.start = 1, .end = 0, .max_len = 3};
  CHECK(beam_search(chain, {}, limits, {.width = 3, .alpha = 0}).front().text == std::vector<Token>{0});
  CHECK(beam_search(chain, {}, limits, {.width = 3, .alpha = 1}).front().text == std::vector<Token>{2, 0});
}

TEST_CASE("equal texts come in the order of their tokens") {
  const auto chain = chain_of({0.5, 0.25, 0.25,  //
                               0.25, 0.375, 0.375, 0.25, 0.375, 0.375});
  const auto found = beam_search(chain, {}, {.start = 1, .end = 0, .max_len = 3}, {.width = 4, .alpha = 0});
  REQUIRE(found.size() == 4);
  CHECK(found[0].text == std::vector<Token>{0});
  CHECK(found[1].text == std::vector<Token>{1, 1});
  CHECK(found[2].text == std::vector<Token>{1, 2});
  CHECK(found[3].text == std::vector<Token>{2, 1});
}

TEST_CASE(
    "scores that differ where their log probabilities do not: a beam of width 1 takes the greater, as greedy does") {
  Embedding<4, 4> scores_of;
  scores_of.W_e(1, 2) = 1e-9f;  // after token 1; all others are 0
  const GenerationLimits limits{.start = 1, .end = 3, .max_len = 2};
  const auto Y = log_softmax(Matrix<n, 4>{0, 0, 1e-9f, 0});
  REQUIRE(Y(0, 0) == Y(0, 2));
  CHECK(decode(scores_of, {}, limits) == std::vector<Token>{2});
  CHECK(beam_search(scores_of, {}, limits, {.width = 1}).front().text == std::vector<Token>{2});
}

TEST_CASE("what is given without room for more is the only text") {
  const LM model = random_layer<LM>(Generator{1});
  const auto found = beam_search(model, {1, 2}, {.start = 0, .end = 0, .max_len = 3});
  REQUIRE(found.size() == 1);
  CHECK(found.front().text == std::vector<Token>{1, 2});
  CHECK((found.front().log_p == 0 && found.front().rank == 0));
  // The token that ends does not end a text where it is given.
  CHECK(beam_search(model, {1, 0}, {.start = 0, .end = 0, .max_len = 4}).front().text.size() == 3);
}

TEST_CASE("bad beams: one sentence each") {
  const LM model = random_layer<LM>(Generator{1});
  const GenerationLimits limits{.start = 0, .end = 0, .max_len = 5};
  constexpr double NaN = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const std::string alpha = ": it must be a finite number from 0 on";
  for (const auto& [beam, sentence] :
       {std::pair{Beam{.width = 0}, std::string("the width of a beam is 0: at least 1 text must have room")},
        {{.alpha = -1}, "alpha of a beam is -1" + alpha},
        {{.alpha = NaN}, "alpha of a beam is nan" + alpha},
        {{.alpha = infinity}, "alpha of a beam is inf" + alpha}})
    CHECK_THROWS_WITH_AS(beam_search(model, {}, limits, beam), sentence.c_str(), std::invalid_argument);
  LM not_a_number = model;
  weight<"Φ.B">(not_a_number)(0, 1) = NaN;
  CHECK_THROWS_WITH_AS(beam_search(not_a_number, {}, limits),
                       "the score of token 1 is nan: texts are compared by finite scores", std::invalid_argument);
}

}  // namespace tlm::tests::in_beam_search
