// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../layers.hpp"

namespace tlm::tests::in_decoding {

namespace {

/// Answers token t with row t of a table, whatever was before.
using Answers = Embedding<4, 4>;

/// Requires that a count among `draws` is within four standard deviations of its expectation for a probability.
void must_be_plausible(int count, int draws, double p) {
  const double expected = draws * p, tolerance = 4 * std::sqrt(draws * p * (1 - p));
  INFO(count, " of ", draws, " draws, where ", expected, " ± ", tolerance, " are expected");
  CHECK(std::abs(count - expected) <= tolerance);
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
}

TEST_CASE("a choice draws token j with probability softmax(scores/τ)_j: the first j with u < p_0 + … + p_j") {
  // Of seed 1 the first draws are 0.1338…, 0.1364… and 0.4512… (tests/unit/generator.cpp).
  const double scores[] = {0, std::log(2.0), 0};
  const auto first_three = [&](double temperature) {
    Generator generator{1};
    const Sampled choose{generator, temperature};
    return std::vector<Token>{choose(scores, 3), choose(scores, 3), choose(scores, 3)};
  };
  CHECK(first_three(1) == std::vector<Token>{0, 0, 1});          // p = 1/4, 1/2, 1/4
  CHECK(first_three(1.0 / 3) == std::vector<Token>{1, 1, 1});    // p = 1/10, 8/10, 1/10
  CHECK(first_three(1e300) == std::vector<Token>{0, 0, 1});      // p = 1/3 each
  CHECK(first_three(1 / 2.433) == std::vector<Token>{0, 1, 1});  // p = 0.1351, 0.7297, 0.1351
  Generator generator{1};
  CHECK(Sampled{generator}.temperature == 1);

  // Thousands of them: so close that a distribution scaled by 1.0009 or by 0.998 gives other tokens.
  const Matrix<n, 5, double> X{1, -1, 0.5, 0.25, -0.75};
  constexpr int draws = 5'000;
  for (const double temperature : {0.5, 1.0, 2.0}) {
    CAPTURE(temperature);
    auto of_temperature = table(X);
    for (double& z : of_temperature.entries) z /= temperature;
    const std::vector<double> p = reference::softmax(of_temperature).entries;
    const auto first_other = [&](double scaled_by, double shift) {
      auto shifted = X;
      for (std::size_t j = 0; j < 5; ++j) shifted(0, j) += shift;
      Generator drawing{11}, known{11};
      const Sampled choose{drawing, temperature};
      for (int draw = 1; draw <= draws; ++draw) {
        double beyond = known.uniform() * scaled_by;
        std::size_t j = 0;
        while (j + 1 < p.size() && (beyond -= p[j]) >= 0) ++j;
        if (choose(shifted.data(), 5) != Token(j)) return draw;
      }
      return 0;  // none
    };
    CHECK(first_other(1, 0) == 0);
    CHECK(first_other(1, 100) == 0);  // what is added to all scores cancels
    CHECK(first_other(1, -100) == 0);
    CHECK(first_other(1.0009, 0) > 0);
    CHECK(first_other(0.998, 0) > 0);
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

TEST_CASE("great scores do not overflow") {
  Generator generator{8};
  const double great[] = {1e300, -1e300, 1e300};
  std::array<int, 3> counts{};
  for (int draw = 0; draw < 1000; ++draw) ++counts[std::size_t(Sampled{generator}(great, 3))];
  must_be_plausible(counts[0], 1000, 0.5);
  CHECK(counts[1] == 0);
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
  // Control: at τ = 1 others are drawn, too.
  const double scores[] = {1, 3, 0, 3};
  int others = 0, last = 0;
  for (int draws = 0; draws < 1000; ++draws) {
    const Token cold = Sampled{generator, 1e-9}(scores, 4);
    CHECK((cold == 1 || cold == 3));
    last += cold == 3;
    others += Sampled{generator, 1}(scores, 4) % 2 == 0;
  }
  must_be_plausible(last, 1000, 0.5);
  CHECK(others > 0);
  CHECK(Greedy{}(scores, 4) == 1);
}

TEST_CASE("top-k and top-p draw from the likeliest tokens only, with their probabilities among these") {
  // p = 0.4, 0.05, 0.25, 0.05, 0.25 at τ = 1.
  const double p[] = {0.4, 0.05, 0.25, 0.05, 0.25};
  double scores[5];
  for (std::size_t j = 0; j < 5; ++j) scores[j] = 7 + std::log(p[j]);
  constexpr int draws = 20'000;
  const auto check = [&](Sampled choose, const std::array<double, 5>& expected) {
    std::array<int, 5> counts{};
    for (int draw = 0; draw < draws; ++draw) ++counts[std::size_t(choose(scores, 5))];
    for (std::size_t j = 0; j < 5; ++j) {
      INFO("k = ", choose.top_k, ", p = ", choose.top_p, ", τ = ", choose.temperature, ", token ", j);
      must_be_plausible(counts[j], draws, expected[j]);
    }
  };
  Generator generator{13};
  check({generator}, {0.4, 0.05, 0.25, 0.05, 0.25});
  check({.generator = generator, .top_k = 5}, {0.4, 0.05, 0.25, 0.05, 0.25});
  check({.generator = generator, .top_k = 4}, {0.4 / 0.95, 0.05 / 0.95, 0.25 / 0.95, 0, 0.25 / 0.95});
  check({.generator = generator, .top_k = 3}, {0.4 / 0.9, 0, 0.25 / 0.9, 0, 0.25 / 0.9});
  check({.generator = generator, .top_k = 2}, {0.4 / 0.65, 0, 0.25 / 0.65, 0, 0});
  check({.generator = generator, .top_k = 1}, {1, 0, 0, 0, 0});
  // The fewest that have so much together.
  check({.generator = generator, .top_p = 0.95}, {0.4 / 0.95, 0.05 / 0.95, 0.25 / 0.95, 0, 0.25 / 0.95});
  check({.generator = generator, .top_p = 0.91}, {0.4 / 0.95, 0.05 / 0.95, 0.25 / 0.95, 0, 0.25 / 0.95});
  check({.generator = generator, .top_p = 0.7}, {0.4 / 0.9, 0, 0.25 / 0.9, 0, 0.25 / 0.9});
  check({.generator = generator, .top_p = 0.6}, {0.4 / 0.65, 0, 0.25 / 0.65, 0, 0});
  check({.generator = generator, .top_p = 1e-9}, {1, 0, 0, 0, 0});
  // First the temperature, then k, and then p of what k has kept. At τ = ½ the probabilities are as p²: 0.16, twice
  // 0.0625, twice 0.0025. Three of them have 0.16/0.285 = 0.56 and 0.0625/0.285 = 0.22.
  check({.generator = generator, .temperature = 0.5, .top_k = 3}, {0.16 / 0.285, 0, 0.0625 / 0.285, 0, 0.0625 / 0.285});
  check({.generator = generator, .temperature = 0.5, .top_k = 3, .top_p = 0.57},
        {0.16 / 0.2225, 0, 0.0625 / 0.2225, 0, 0});
  check({.generator = generator, .top_k = 3, .top_p = 0.57}, {0.4 / 0.65, 0, 0.25 / 0.65, 0, 0});
  check({.generator = generator, .top_k = 3, .top_p = 0.43}, {1, 0, 0, 0, 0});  // 0.4/0.9 > 0.43 > 0.4

  // top_k = 1 is greedy, also if several scores are the maximum.
  const double tie[] = {0, 2, 2};
  for (int draw = 0; draw < 100; ++draw) CHECK(Sampled{.generator = generator, .top_k = 1}(tie, 3) == 1);
}

TEST_CASE("with top-k and top-p, too, a draw beyond all rounding is a token that is kept") {
  // The last kept token takes what rounding leaves over, and not the last of all.
  const double scores[] = {std::log(0.1), std::log(0.3), std::log(0.6), -50};
  Generator generator{14};
  for (int draw = 0; draw < 20'000; ++draw) CHECK(Sampled{.generator = generator, .top_k = 3}(scores, 4) != 3);
  // The seed determines what is drawn, as without them: the kept tokens stay in their order.
  Generator all{15}, kept{15};
  for (int draw = 0; draw < 1000; ++draw)
    CHECK(Sampled{all}(scores, 4) == Sampled{.generator = kept, .top_k = 3}(scores, 4));
}

TEST_CASE_TEMPLATE("T_LM sampled: both tokens that follow are drawn by their rows, and follow from the seed", T,
                   SmallLM<Block::definition>, SmallLM<Block::inspirational, float>) {
  const T model = random_layer<T>(Generator{10});
  const std::vector<Token> given{3, 1};
  constexpr Token start = 2, end = -1;  // it does not end by a token
  std::set<std::vector<Token>> texts;
  for (const double temperature : {1.0, 0.4})
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      CAPTURE(temperature);
      CAPTURE(seed);
      Generator generator{seed}, again{seed};
      std::vector<Token> whole{start};
      whole.insert(whole.end(), given.begin(), given.end());
      while (whole.size() < 5) {
        const auto Y = scores(model)(Tokens{whole});
        whole.push_back(Sampled{again, temperature}(Y.row(Y.rows() - 1).data(), vocab_size));
      }
      const auto text = decode(model, given, {start, end, 5}, Sampled{generator, temperature});
      CHECK(text == std::vector<Token>(whole.begin() + 1, whole.end()));
      texts.insert(text);
    }
  CHECK(texts.size() > 20);
}

}  // namespace tlm::tests::in_decoding
