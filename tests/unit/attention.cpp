// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string_view>

#include <tlm/checking/check.hpp>

#include "../layers.hpp"

/// A kernel on its own, and the place that scores have for a bias.
using namespace tlm;
using namespace tlm::tests;

namespace {

using reference::Table;

/// −m_h·(i − j), with a slope m_h for each head as its weights (Press, Smith and Lewis, 2022, where they are constants).
template <std::size_t n_heads, class Real>
struct Slopes {
  using declared = is::Positional;
  static constexpr std::string_view symbol = "b";

  Row<n_heads, Real> m;

  void add(std::size_t h, std::size_t i, Real* s, std::size_t visible) const {
    for (std::size_t j = 0; j < visible; ++j) s[j] = s[j] - m(0, h) * Real(i - j);
  }
  static void pull_back(std::size_t h, std::size_t i, const Real* s_bar, std::size_t visible, Slopes& gradient) {
    for (std::size_t j = 0; j < visible; ++j) gradient.m(0, h) -= s_bar[j] * Real(i - j);
  }
  static constexpr void weights(auto&& visit, auto&... layer) { visit(Name{"m"}, layer.m...); }
};

template <class Real, class Bias, std::size_t block = 4>
using HeadsWith = Heads<n_heads, Causal, Times<"W_Q", d_model, d_model, Real>, Times<"W_K", d_model, d_model, Real>,
                        Times<"W_V", d_model, d_model, Real>, Bias, block>;
template <class Real>
using Biased = HeadsWith<Real, Slopes<n_heads, Real>>;
template <class Real>
using Unbiased = HeadsWith<Real, NoBias>;

/// What a wrong pullback of the bias would look like: the head is forgotten.
template <class Real>
struct WrongHead : Slopes<n_heads, Real> {
  static void pull_back(std::size_t, std::size_t i, const Real* s_bar, std::size_t visible, WrongHead& gradient) {
    Slopes<n_heads, Real>::pull_back(0, i, s_bar, visible, gradient);
  }
};
template <class Real>
using WrongPullback = HeadsWith<Real, WrongHead<Real>>;

/// A bias that depends on n: its layer must not be called autoregressive.
template <class Real>
struct FromTheRight : Slopes<n_heads, Real> {
  using declared = is::Unrestricted;
};

/// A_h(X) of one sequence, as a table of zeros above the diagonal: the plain definition with the slopes m.
Table expected_kernel(const reference::Weights& w, std::size_t head, const Table& X) {
  const std::size_t d_head = d_model / n_heads, left = head * d_head + 1;
  const Table Q = reference::product(X, reference::columns(w.at("W_Q"), left, d_head)),
              K = reference::product(X, reference::columns(w.at("W_K"), left, d_head));
  const double m = w.contains("b.m") ? w.at("b.m")(1, head + 1) : 0;
  Table scores(X.rows, X.rows);
  for (std::size_t i = 1; i <= X.rows; ++i)
    for (std::size_t j = 1; j <= i; ++j) {
      for (std::size_t k = 1; k <= d_head; ++k) scores(i, j) += Q(i, k) * K(j, k) / std::sqrt(double(d_head));
      scores(i, j) -= m * double(i - j);
    }
  return reference::softmax(reference::masked(scores));
}

/// The kernel and the product of a layer on sequences of unequal lengths, against the plain definition.
template <class F>
void compare() {
  INFO("of ", name_of<F>());
  Generator generator{1};
  const F layer = random_layer<F>(generator);
  const auto X = random_rows<typename F::domain>(Sequences::of_lengths({3, 1, 9}), generator);
  const auto A = layer.a(X);
  const auto Y = layer(X);
  for (std::size_t s = 0; s < 3; ++s) {
    const Table X_s = table(sequence(X, s));
    for (std::size_t head = 0; head < n_heads; ++head) {
      CAPTURE(s);
      CAPTURE(head);
      const auto A_h = expected_kernel(weights_of(layer), head, X_s);
      for (std::size_t i = 1; i <= X_s.rows; ++i)
        for (std::size_t j = 1; j <= i; ++j) {
          CAPTURE(i);
          CAPTURE(j);
          CHECK(A(s, head)(i - 1, j - 1) == doctest::Approx(A_h(i, j)).epsilon(1e-12));
        }
      const std::size_t d_head = d_model / n_heads, left = head * d_head + 1;
      const auto V = reference::columns(reference::product(X_s, weights_of(layer).at("W_V")), left, d_head);
      CHECK(distance(reference::columns(table(sequence(Y, s)), left, d_head), reference::product(A_h, V)) <= 1e-12);
    }
  }
}

}  // namespace

TEST_CASE("A(X) is softmax(◺(Q(X)×K(X)ᵀ/√d_head)) in each head, and A(X)×B(X) its product with V(X)") {
  compare<Unbiased<double>>();
}

TEST_CASE("a bias is added to the scores before the softmax, by position, in each head") { compare<Biased<double>>(); }

TEST_CASE("the weights of attention are drawn in the order Q, K, the bias, V") {
  CHECK(not_drawn_in_this_order<Biased<double>>({"W_Q", "W_K", "b.m", "W_V"}) == "");
}

TEST_CASE("a bias of slope 0 is none") {
  Generator generator{2};
  auto biased = random_layer<Biased<double>>(generator);
  Unbiased<double> unbiased;
  weight<"W_Q">(unbiased) = weight<"W_Q">(biased);
  weight<"W_K">(unbiased) = weight<"W_K">(biased);
  weight<"W_V">(unbiased) = weight<"W_V">(biased);
  const auto X = random_rows<Matrix<n, d_model, double>>(Sequences{6}, generator);
  CHECK(distance(biased(X), unbiased(X)) > 1e-3);
  weight<"b.m">(biased) = {};
  CHECK(biased(X) == unbiased(X));
}

static_assert(weight_count<Biased<double>> == weight_count<Unbiased<double>> + n_heads);
static_assert(autoregressive<Biased<double>> && !rowwise<Biased<double>>);
static_assert(!autoregressive<HeadsWith<double, FromTheRight<double>>>);

TEST_CASE("the gradient of a bias agrees with differences") {
  const auto failure = checking::gradient_fails<Biased>("H with a bias", 1);
  CHECK_MESSAGE(!failure, *failure);
}

TEST_CASE("control: a bias whose pullback forgets the head is seen, where it is") {
  const auto failure = checking::gradient_fails<WrongPullback>("H", 1);
  REQUIRE(failure);
  CHECK(failure->entry == "b.m, row 1, column 1");
}

TEST_CASE("a biased kernel is extended by the positions that follow") {
  Generator generator{3};
  const auto layer = random_layer<Biased<double>>(generator);
  const auto X = random_rows<Matrix<n, d_model, double>>(Sequences{7}, generator);
  const auto Y = layer(X);
  State<Biased<double>> state;
  for (std::size_t i = 0; i < 7; ++i) {
    CAPTURE(i);
    CHECK(distance(extend(layer, state, rows(X, i, 1)), rows(Y, i, 1)) <= 1e-13);
  }
}
