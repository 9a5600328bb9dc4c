// SPDX-License-Identifier: MIT
// The NumPy notebook's ways to see positions, beside plain loops.
#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include <examples/positions/appended.hpp>
#include <examples/positions/heads.hpp>

#include "../support.hpp"

namespace tlm::tests::in_positions {

using reference::Table;

namespace {

constexpr std::size_t d = 3, max_len = 8;

/// Requires that `layer` appends p(t, n), t = 1, …, n, to the rows of each sequence, whose lengths are unequal.
template <std::size_t width, class Layer, class P>
void appends(const Layer& layer, const P& p) {
  Generator generator{1};
  const auto X = random_rows<Matrix<n, d, double>>(unequal(), generator);
  const Matrix<n, d + width, double> Y = layer(X);
  REQUIRE(Y.sequences() == unequal());
  for (std::size_t s = 0; s < unequal().count(); ++s)
    for (std::size_t t = 1; t <= unequal().length(s); ++t)
      for (std::size_t j = 0; j < d + width; ++j) {
        CAPTURE(s);
        CAPTURE(t);
        const std::size_t i = unequal().begin(s) + t - 1;
        CHECK(Y(i, j) == (j < d ? X(i, j) : p(t, unequal().length(s))[j - d]));
      }
}

/// The indicators of the rows of a sequence.
using Rows = std::vector<std::vector<double>>;

}  // namespace

TEST_CASE("t is appended to x_t") {
  appends<1>(Appended<d, SequenceNumber<max_len, double>>{},
             [](std::size_t t, std::size_t) { return std::vector{double(t)}; });
}

TEST_CASE(
    "indicators of the half, the quarter and the parity are appended to x_t: of the longest sequence, or of its own") {
  const Rows of_8{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}, {1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {1, 1, 1}};
  appends<3>(Appended<d, Indicators<2, max_len, double>>{}, [&](std::size_t t, std::size_t) { return of_8[t - 1]; });
  const Rows of_1{{0, 0, 0}}, of_3{{0, 0, 0}, {0, 1, 1}, {1, 0, 0}},
      of_5{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {1, 0, 1}, {1, 1, 0}};
  appends<3>(Appended<d, IndicatorsOfSequence<2, double>>{}, [&](std::size_t t, std::size_t n) {
    return (n == 1 ? of_1 : n == 3 ? of_3 : of_5)[t - 1];
  });
}

TEST_CASE("p_t is appended to x_t: learned, or sines and cosines") {
  const auto layer = random_layer<Appended<d, PositionalEncoding<max_len, 4, double>>>(Generator{2});
  const auto p = weights_of(layer).at("PE.PE");
  appends<4>(layer, [&](std::size_t t, std::size_t) { return std::vector{p(t, 1), p(t, 2), p(t, 3), p(t, 4)}; });
  const auto W_p = table(ConstantPositionalEncoding<max_len, 4, double>{}.PE);
  const Appended<d, ConstantPositionalEncoding<max_len, 4, double>> constant;
  appends<4>(constant, [&](std::size_t t, std::size_t) {
    return std::vector{W_p(t, 1), W_p(t, 2), W_p(t, 3), W_p(t, 4)};
  });
  static_assert(parameter_count<Appended<d, PositionalEncoding<max_len, 4>>> == 4 * max_len);
  static_assert(parameter_count<Appended<d, ConstantPositionalEncoding<max_len, 4>>> == 0);
}

TEST_CASE("p_t is added to q_t, k_t and v_t, each head's own columns of one p, and then it is attention") {
  constexpr std::size_t h = 2, M = 3;
  Generator generator{3};
  const auto layer = random_layer<HeadsWithPositions<"Q", "K", "V", d, h, M, max_len, Causal, double>>(generator);
  const auto w = weights_of(layer);
  CHECK(w.size() == 4);
  const auto X = random_rows<Matrix<n, d, double>>(unequal(), generator);
  const auto Y = layer(X);
  for (std::size_t s = 0; s < unequal().count(); ++s) {
    CAPTURE(s);
    const Table x = table(sequence(X, s));
    const auto with_p = [&](const char* letter) {
      return reference::positional_encoding(w.at("p"), reference::product(x, w.at(letter)));
    };
    const Table expected = reference::heads(with_p("Q"), with_p("K"), with_p("V"), h, true);
    CHECK(distance(table(sequence(Y, s)), expected) < 1e-12);
  }
}

TEST_CASE(
    "a sequence that is too long for its positions is refused, whatever they are added to; indicators of its own "
    "halves fit every length") {
  const Matrix<n, d, double> X{Sequences::of_lengths({1, 9}), 0.5};
  const char* sentence = "sequence 2, of 9 tokens, is too long: max_len is 8";
  CHECK_THROWS_WITH_AS((Appended<d, SequenceNumber<max_len, double>>{}(X)), sentence, std::length_error);
  CHECK_THROWS_WITH_AS((Appended<d, Indicators<2, max_len, double>>{}(X)), sentence, std::length_error);
  const HeadsWithPositions<"Q", "K", "V", d, 1, 3, max_len, Causal, double> heads;
  CHECK_THROWS_WITH_AS(heads(X), sentence, std::length_error);
  CHECK_THROWS_WITH_AS(heads.value_and_pullback(X), sentence, std::length_error);
  CHECK_NOTHROW(Appended<d, IndicatorsOfSequence<2, double>>{}(X));
}

}  // namespace tlm::tests::in_positions
