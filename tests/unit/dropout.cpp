// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <stdexcept>

#include "../shapes.hpp"
#include "../workers.hpp"

namespace tlm::tests::in_dropout {

namespace {

constexpr std::size_t cols = 50;
using Drop = Dropout<10, cols, double>;
using Twice = Composition<Drop, Drop>;

/// 1 everywhere, in two sequences of 40 and 60 rows.
Matrix<n, cols, double> ones() { return {Sequences::of_lengths({40, 60}), 1.0}; }

}  // namespace

TEST_CASE("without noise Dropout is the identity, and so is its pullback") {
  Generator generator{1};
  const auto X = random_rows<Drop::domain>(Sequences::of_lengths({3, 2}), generator);
  Drop gradient;
  CHECK(Drop{}(X) == X);
  const auto [Y, pullback] = Drop{}.value_and_pullback(X);
  CHECK(Y == X);
  CHECK(pullback(X, gradient) == X);
}

TEST_CASE("with noise a tenth of the numbers becomes 0, and the others are divided by 0.9") {
  const Drop drop;
  const auto Y = drop(ones(), Noise{drop, 1, 1});
  std::size_t zeros = 0;
  for (std::size_t e = 0; e < Y.rows() * cols; ++e) {
    if (Y.data()[e] == 0)
      ++zeros;
    else
      REQUIRE(Y.data()[e] == doctest::Approx(1 / 0.9).epsilon(1e-15));
  }
  // 500 of 5000 on average, with a standard deviation of 21; the noise is a fixed one.
  CHECK(zeros > 400);
  CHECK(zeros < 600);
}

TEST_CASE("the noise is that of a seed, a step, a layer, a sequence and a position") {
  const Twice drops;
  const auto& [g, f] = drops;
  const auto Y = f(ones(), Noise{drops, 1, 1});
  CHECK(Y == f(ones(), Noise{drops, 1, 1}));
  CHECK_FALSE(Y == f(ones(), Noise{drops, 2, 1}));
  CHECK_FALSE(Y == f(ones(), Noise{drops, 1, 2}));
  CHECK_FALSE(Y == g(ones(), Noise{drops, 1, 1}));
  CHECK_FALSE(rows(Y, 0, 1) == rows(Y, 1, 1));
  CHECK_FALSE(rows(Y, 0, 1) == rows(Y, 40, 1));
  // Other rows and sequences do not matter, if a part of a batch says where it begins.
  const Matrix<n, cols, double> second{Sequences{60}, 1.0};
  CHECK(f(second, Noise{drops, 1, 1}.from(1)) == sequence(Y, 1));
  CHECK_FALSE(f(second, Noise{drops, 1, 1}) == sequence(Y, 1));
  CHECK(f(second | 7, Noise{drops, 1, 1}.from(1)) == (sequence(Y, 1) | 7));
}

TEST_CASE("the noise of one model is not for another") {
  const Drop drop, other;
  CHECK_THROWS_WITH_AS(drop(ones(), Noise{other, 1, 1}), "this noise was made for another model",
                       std::invalid_argument);
}

TEST_CASE("the pullback of a model with noise is the derivative of the model with that noise") {
  auto model = random_layer<Translator<double>>(Generator{3});
  const Noisy<Translations> noisy{translations(2), {model, 1, 1}};
  must_be_derivative(model, noisy);
  const auto [value, gradient] = value_and_gradient(model, noisy);
  CHECK(value != loss(model, translations(2)));

  // In parts it is the same, because every sequence keeps its noise.
  Translator<double> in_two;
  CHECK(loss_and_gradient(model, micro_batches(noisy, 1), in_two) == doctest::Approx(value).epsilon(1e-13));
  CHECK(distance_of_weights(gradient, in_two) < 1e-13);

  // Control: the gradient without noise is another one.
  CHECK(distance_of_weights(gradient, value_and_gradient(model, translations(2)).second) > 1e-3);
}

}  // namespace tlm::tests::in_dropout
