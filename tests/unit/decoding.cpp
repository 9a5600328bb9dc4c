// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../shapes.hpp"

namespace tlm::tests::in_decoding {

namespace {

/// Answers token t with row t of a table, whatever was before.
using Answers = Embedding<4, 4>;

/// The first of 5,000 draws that is not the first token j with u < q_0 + … + q_j, where u is the next number of the
/// generator; 0 if there is none.
int first_other(const Sampled& choose, const std::vector<double>& scores, const std::vector<double>& q) {
  Generator known = choose.generator;
  for (int draw = 1; draw <= 5'000; ++draw) {
    double beyond = known.uniform();
    std::size_t j = 0;
    while (j + 1 < q.size() && (beyond -= q[j]) >= 0) ++j;
    if (choose(scores.data(), scores.size()) != Token(j)) return draw;
  }
  return 0;
}

std::vector<double> scaled(std::vector<double> numbers, double factor) {
  for (double& number : numbers) number *= factor;
  return numbers;
}

}  // namespace

TEST_CASE_TEMPLATE("texts that are generated together are those that are generated one by one", T,
                   SmallLM<Block::definition>, SmallLM<Block::inspirational>) {
  Generator generator{1};
  const T model = random_layer<T>(generator);
  std::vector<std::size_t> lengths;
  int full = 0;
  for (std::size_t count = 0; count <= 5; ++count)
    for (Token end = 0; end < 5; ++end) {
      CAPTURE(count);
      CAPTURE(end);
      const GenerationLimits limits{1, end, max_len + 1};  // of a text that ends the last token is not read
      std::vector<std::vector<Token>> given, alone;
      for (std::size_t k = 0; k < count; ++k) {
        given.push_back(plain(random_rows<Tokens>(Sequences{k == 2 ? max_len : (3 * k + 2) % max_len}, generator)));
        alone.push_back(decode(model, given.back(), limits));
        lengths.push_back(alone.back().size());
        full += given.back().size() == max_len;
      }
      CHECK(decode_all(model, given, limits) == alone);
    }
  // Some of these end by the token that ends, some by their length, some before they have begun.
  CHECK(*std::min_element(lengths.begin(), lengths.end()) < max_len - 1);
  CHECK(std::count(lengths.begin(), lengths.end(), max_len) > full);
  CHECK(full > 0);
}

TEST_CASE("ties go to the lowest token") {
  // After 0: a tie of 2 and 3. After 2: a tie of 1 and 3. After 1: a tie of all.
  const Answers model{{0, 1, 2, 2,  //
                       5, 5, 5, 5,  //
                       0, 4, 1, 4,  //
                       9, 0, 0, 0}};
  CHECK(decode(model, {}, {0, 0, 10}) == std::vector<Token>{2, 1, 0});
}

TEST_CASE("decoding ends with the token that ends, or at max_len with the token that starts counted") {
  const Answers ends_after_3{{0, 0, 0, 1,  //
                              0, 0, 1, 0,  //
                              0, 1, 0, 0,  //
                              1, 0, 0, 0}};
  CHECK(decode(ends_after_3, {1, 3}, {0, 0, 100}) == std::vector<Token>{1, 3, 0});
  CHECK(decode(ends_after_3, {1}, {0, 0, 6}) == std::vector<Token>{1, 2, 1, 2, 1});
  CHECK(decode(ends_after_3, {1, 2}, {0, 0, 3}) == std::vector<Token>{1, 2});
  CHECK(decode(ends_after_3, {1, 0, 3}, {0, 0, 100}) == std::vector<Token>{1, 0, 3, 0});
  // Other tokens start and end. The model generates 2 after 1, and 1 after 2. It generates 3 after 0, and 0 after 3.
  CHECK(decode(ends_after_3, {}, {1, 1, 100}) == std::vector<Token>{2, 1});
  CHECK(decode(ends_after_3, {}, {3, 3, 100}) == std::vector<Token>{0, 3});
  CHECK(decode(ends_after_3, {}, {3, 2, 5}) == std::vector<Token>{0, 3, 0, 3});
  CHECK_THROWS_WITH_AS(decode(SmallLM<Block::definition>{}, {}, {0, 0, max_len + 2}),
                       "max_len is 11, but a model that reads 9 tokens generates no more than 10, with the start token",
                       std::length_error);
}

TEST_CASE("a choice draws token j with probability softmax(scores/τ)_j: the first j with u < p_0 + … + p_j") {
  Generator generator{11};
  CHECK(Sampled{generator}.temperature == 1);
  const std::vector<double> scores{1, -1, 0.5, 0.25, -0.75};
  for (const double temperature : {0.5, 1.0, 2.0}) {
    CAPTURE(temperature);
    const Sampled choose{generator, temperature};
    reference::Table of_temperature(1, scores.size());
    of_temperature.entries = scaled(scores, 1 / temperature);
    const auto p = reference::softmax(of_temperature).entries;
    for (const double shift : {0, 100, -100}) {  // what is added to all scores cancels
      auto shifted = scores;
      for (double& score : shifted) score += shift;
      CHECK(first_other(choose, shifted, p) == 0);
    }
    // Control: so many that a distribution scaled by so little gives other tokens.
    CHECK(first_other(choose, scores, scaled(p, 0.999)) > 0);
    CHECK(first_other(choose, scores, scaled(p, 1.002)) > 0);
  }
}

TEST_CASE("a draw on a boundary, u = p_0, belongs to the token behind it") {
  Generator generator{1};
  generator.uniform(), generator.uniform();
  const double u = Generator{generator}.uniform();  // 0.4512…
  // Scores 0 and s with e⁻ˢ = u·(e⁻ˢ + 1) to the last bit: near s = log((1 − u)/u), where that holds up to rounding.
  double s = std::log((1 - u) / u) - 1e-14;
  const auto on_the_boundary = [&] { return u * (std::exp(-s) + 1) == std::exp(-s); };
  for (int tries = 0; tries < 10'000 && !on_the_boundary(); ++tries) s = std::nextafter(s, 1.0);
  REQUIRE(on_the_boundary());
  const double scores[] = {0, s};
  CHECK(Sampled{generator}(scores, 2) == 1);
}

TEST_CASE("what cannot be drawn from, or taken, is refused by a sentence") {
  Generator generator{9};
  constexpr double NaN = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const double fine[] = {0.5, 0.5};
  const std::string temperature = ": it must be a finite number greater than 0",
                    top_p = ": it must be greater than 0 and at most 1";
  for (const auto& [choose, sentence] : std::vector<std::pair<Sampled, std::string>>{
           {{generator, 0}, "the temperature is 0" + temperature},
           {{generator, -1}, "the temperature is -1" + temperature},
           {{generator, NaN}, "the temperature is nan" + temperature},
           {{generator, infinity}, "the temperature is inf" + temperature},
           {{.generator = generator, .top_k = 0}, "top_k is 0: at least 1 token must be kept"},
           {{.generator = generator, .top_p = 0}, "top_p is 0" + top_p},
           {{.generator = generator, .top_p = 1.5}, "top_p is 1.5" + top_p},
           {{.generator = generator, .top_p = NaN}, "top_p is nan" + top_p}})
    CHECK_THROWS_WITH_AS(choose(fine, 2), sentence.c_str(), std::invalid_argument);

  for (const auto& [scores, which] :
       {std::pair{std::array{0.0, NaN}, "1 is nan"}, {{infinity, 0}, "0 is inf"}, {{0, -infinity}, "1 is -inf"}}) {
    const std::string score = std::string("the score of token ") + which;
    CHECK_THROWS_WITH_AS(Greedy{}(scores.data(), 2), (score + ": the maximum is taken by finite scores").c_str(),
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(Sampled{generator}(scores.data(), 2), (score + ": tokens are drawn by finite scores").c_str(),
                         std::invalid_argument);
  }
}

TEST_CASE(
    "for τ → 0 the greatest score is drawn; of several greatest ones each alike, of which greedy takes the lowest") {
  Generator generator{12};
  for (int draws = 0; draws < 100; ++draws) {
    double scores[6];
    for (double& score : scores) score = 2 * generator.uniform() - 1;
    for (const double temperature : {1e-9, 1e-300})
      CHECK(Sampled{generator, temperature}(scores, 6) == Greedy{}(scores, 6));
  }
  const std::vector<double> scores{1, 3, 0, 3};
  CHECK(first_other({generator, 1e-9}, scores, {0, 0.5, 0, 0.5}) == 0);
  CHECK(first_other({generator, 1}, scores, {0, 0.5, 0, 0.5}) > 0);  // control
  CHECK(Greedy{}(scores.data(), 4) == 1);
  CHECK(first_other({generator}, {1e300, -1e300, 1e300}, {0.5, 0, 0.5}) == 0);  // nothing overflows
}

TEST_CASE("top-k and top-p draw from the likeliest tokens only, with their probabilities among these") {
  const std::vector<double> p{0.4, 0.05, 0.25, 0.05, 0.25};  // at τ = 1
  std::vector<double> scores;
  for (const double p_j : p) scores.push_back(7 + std::log(p_j));
  const std::vector<double> four{0.4, 0.05, 0.25, 0, 0.25}, three{0.4, 0, 0.25, 0, 0.25}, two{0.4, 0, 0.25, 0, 0},
      one{1, 0, 0, 0, 0};
  Generator generator{13};
  using Row = std::pair<Sampled, std::vector<double>>;
  for (const Row& row : {Row{{generator}, p},
                         {{.generator = generator, .top_k = 5}, p},
                         {{.generator = generator, .top_k = 4}, four},
                         {{.generator = generator, .top_k = 3}, three},
                         {{.generator = generator, .top_k = 2}, two},
                         {{.generator = generator, .top_k = 1}, one},
                         // The fewest that have so much together.
                         {{.generator = generator, .top_p = 0.95}, four},
                         {{.generator = generator, .top_p = 0.91}, four},
                         {{.generator = generator, .top_p = 0.7}, three},
                         {{.generator = generator, .top_p = 0.6}, two},
                         {{.generator = generator, .top_p = 1e-9}, one},
                         // First the temperature, then k, and then p of what k has kept. At τ = ½ the
                         // probabilities are as p². Three of them have 0.56, 0.22 and 0.22.
                         {{generator, 0.5, 3}, {0.16, 0, 0.0625, 0, 0.0625}},
                         {{generator, 0.5, 3, 0.57}, {0.16, 0, 0.0625, 0, 0}},
                         {{generator, 1, 3, 0.57}, two},
                         {{generator, 1, 3, 0.43}, one}}) {  // 0.4/0.9 > 0.43 > 0.4
    const Sampled& choose = row.first;
    const std::vector<double>& kept = row.second;
    INFO("k = ", choose.top_k, ", p = ", choose.top_p, ", τ = ", choose.temperature);
    CHECK(first_other(choose, scores, scaled(kept, 1 / std::accumulate(kept.begin(), kept.end(), 0.0))) == 0);
  }
  // top_k = 1 is greedy, also if several scores are the maximum.
  CHECK(first_other({.generator = generator, .top_k = 1}, {0, 2, 2}, {0, 1, 0}) == 0);
}

TEST_CASE("T_LM sampled: both tokens that follow are drawn by their rows, and follow from the seed") {
  using T = SmallLM<Block::inspirational, float>;
  const T model = random_layer<T>(Generator{10});
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    Generator generator{seed}, again{seed};
    std::vector<Token> whole{2, 3, 1};  // the start token, and what is given
    while (whole.size() < 5) {
      const auto Y = model(Tokens{whole});
      whole.push_back(Sampled{again, 0.4}(Y.row(Y.rows() - 1).data(), vocab_size));
    }
    const auto text = decode(model, {3, 1}, {.start = 2, .end = -1, .max_len = 5}, Sampled{generator, 0.4});
    CHECK(text == std::vector<Token>(whole.begin() + 1, whole.end()));
  }
}

}  // namespace tlm::tests::in_decoding
