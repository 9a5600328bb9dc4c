// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <tlm/checking/gradients.hpp>

#include "../../proofs/support.hpp"
#include "../shapes.hpp"

namespace tlm::tests::in_layers {

namespace {

constexpr double tolerance = 1e-12;

/// A layer with random weights, compared with its formula: formula(weights, X) for the X of each sequence.
template <class F, class Formula>
void compare(const Formula& formula, const Sequences& lengths = unequal()) {
  INFO("of ", name_of<F>());
  Generator generator{1};
  const F layer = random_layer<F>(generator);
  const auto X = random_rows<typename F::domain>(lengths, generator);
  const auto Y = layer(X);
  CHECK(Y.sequences() == lengths);
  CHECK(layer.value_and_pullback(X).value == Y);
  for (std::size_t s = 0; s < lengths.count(); ++s) {
    CAPTURE(s);
    CHECK(distance(table(sequence(Y, s)), formula(weights_of(layer), table(sequence(X, s)))) <= tolerance);
  }
}

using reference::Table;
using reference::Weights;

}  // namespace

TEST_CASE("PE begins as sines and cosines of positions from 1, columns from 0") {
  const auto PE = PositionalEncoding<max_len, d_model, double>::sinusoidal();
  CHECK(distance(table(PE), reference::sinusoidal(max_len, d_model)) <= 1e-15);

  // Floats are rounded once, from angles in double.
  const auto in_float = PositionalEncoding<2048, 4>::sinusoidal();
  CHECK(distance(table(in_float), reference::sinusoidal(2048, 4)) <= 6e-8);
}

TEST_CASE("N divides by σ + 10⁻⁶, so a constant row becomes b") {
  const auto N = random_layer<Normalization<"N", d_model, double>>(Generator{1});
  const Matrix<n, d_model, double> X{Sequences{1}, 0.5};
  CHECK(distance(table(N(X)), table(N.b)) == 0);

  for (const float entry : {0.7f, 100.1f, 1000.1f}) {  // their mean is rounded
    Normalization<"N", 7> of_floats;
    of_floats.a.xtensor().fill(1);
    CHECK(of_floats(Matrix<n, 7>{Sequences{1}, entry}) == Matrix<n, 7>{Sequences{1}, 0.0F});
  }

  // A row of σ = 10⁻⁶ is halved by it: ±10⁻⁶ becomes ±½.
  Normalization<"N", 2, double> unit;
  unit.a = {1, 1};
  CHECK(unit(Matrix<n, 2, double>{1e-6, -1e-6})(0, 0) == doctest::Approx(0.5));
}

namespace {

/// N or LayerNorm of (x, −x, 0, 0) should be (√2, −√2, 0, 0), and its derivative there, times x, should be that at 1000,
/// times 1000. Returns the maximum of both differences.
template <class Layer>
double error_at(typename Layer::codomain::Real x) {
  using Real = typename Layer::codomain::Real;
  Layer layer;
  for (std::size_t j = 0; j < 4; ++j) layer.a(0, j) = 1, layer.b(0, j) = 0;
  const auto derivative = [&](Real at, auto& value) {
    auto [Y, pullback] = layer.value_and_pullback(Matrix<n, 4, Real>{at, -at, 0, 0});
    value = Y;
    Layer gradient;
    return pullback(Matrix<n, 4, Real>{1, 2, 4, 8}, gradient);
  };
  Matrix<n, 4, Real> Y{Sequences{1}}, of_1000{Sequences{1}};
  const auto here = derivative(x, Y), there = derivative(1000, of_1000);
  const double expected[] = {std::sqrt(2.0), -std::sqrt(2.0), 0, 0};
  double error = 0;
  for (std::size_t j = 0; j < 4; ++j)
    error = greater(greater(error, std::abs(double(Y(0, j)) - expected[j])),
                    std::abs(double(here(0, j)) * (double(x) / 1000) - double(there(0, j))) * 1000);
  return error;
}

}  // namespace

TEST_CASE("rows of great numbers are standardized, and their derivatives, though their squares would overflow") {
  const auto standardizes = [](auto x, double error) {
    CAPTURE(x);
    CHECK(error_at<Normalization<"N", 4, decltype(x)>>(x) < error);
    CHECK(error_at<LayerNorm<"N", 4, decltype(x)>>(x) < error);
  };
  for (const float x : {1e4f, 1e18f, 3e19f, 1e30f, 3e38f}) standardizes(x, 1e-5);
  for (const double x : {1e4, 1e150, 1e200, 1e308}) standardizes(x, 1e-7);
  // A row of equal numbers has Z = 0, however large they are.
  LayerNorm<"N", 4> equal;
  equal.a = {1, 1, 1, 1};
  const auto [Y, pullback] = equal.value_and_pullback(Matrix<n, 4>{1e25f, 1e25f, 1e25f, 1e25f});
  LayerNorm<"N", 4> gradient;
  const auto X_bar = pullback(Matrix<n, 4>{1, 0, 0, 0}, gradient);
  CHECK((Y(0, 0) == 0 && X_bar(0, 1) == doctest::Approx(-0.25 * std::sqrt(1e5)).epsilon(1e-5)));
  // What is not finite shows, and what is small keeps its digits.
  Normalization<"N", 4> N;
  N.a = {1, 1, 1, 1};
  for (const float x : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    CHECK(std::isnan(N(Matrix<n, 4>{x, 1e30f, 0, 0})(0, 0)));
  CHECK(N(Matrix<n, 4>{1e-30f, -1e-30f, 0, 0})(0, 0) * 1e24f == doctest::Approx(1).epsilon(1e-5));
}

TEST_CASE("GELU is x·(1 + erf(x/√2))/2, and its form with tanh differs by less than 0.0005") {
  compare<GELU<d_model, double>>([](const Weights&, Table X) {
    for (double& x : X.entries) x *= (1 + std::erf(x / std::sqrt(2))) / 2;
    return X;
  });
  compare<TanhGELU<d_model, double>>([](const Weights&, Table X) {
    for (double& x : X.entries)
      x *= (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * std::pow(x, 3)))) / 2;
    return X;
  });
  const Matrix<n, 2, double> large{1e200, -1e200}, slopes{1, 0};
  const auto of_large = [&]<class Layer>(Layer layer) {
    const auto [Y, pullback] = layer.value_and_pullback(large);
    return Y == Matrix<n, 2, double>{1e200, 0} && pullback(Matrix<n, 2, double>{1, 1}, layer) == slopes;
  };
  CHECK((of_large(GELU<2, double>{}) && of_large(TanhGELU<2, double>{})));
  const auto difference = [](double x) {
    const Matrix<n, 1, double> X{x};
    return std::abs(GELU<1, double>{}(X)(0, 0) - TanhGELU<1, double>{}(X)(0, 0));
  };
  for (double x = -8; x <= 8; x += 1.0 / 64) CHECK(difference(x) < 0.0005);
  CHECK(difference(2) > 0.00005);
}

TEST_CASE(
    "CA with several heads, in contiguous blocks of columns, also of sequences about as long as its blocks of rows") {
  const auto compare_each = []<std::size_t... h>(std::index_sequence<h...>) {
    (compare<CausalAttention<d_model, h, double>>(
         [](const Weights& w, const Table& X) { return reference::causal_attention(w, "", h, X); },
         Sequences::of_lengths({3, 1, 31, 32, 33, 65})),
     ...);
  };
  compare_each(std::index_sequence<1, 2, 3, 6>{});
  // With more heads than columns of a head.
  using CA3 = checking::OperationOf<CausalAttention<d_model, 3, double>, checking::pullback_face>;
  proofs::must_hold(checking::gradient_fails(CA3{"CA"}, 1));
}

}  // namespace tlm::tests::in_layers
