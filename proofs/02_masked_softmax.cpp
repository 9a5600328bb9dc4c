// SPDX-License-Identifier: MIT
// Claim 2. Let ◺A be the square matrix A with −∞ above the main diagonal. softmax(◺A) is lower triangular, and each of
// its rows sums to 1. Row i does not change with the hidden entries A_ij, j > i, even if they are large, infinite or
// NaN. ◺(A/c) = (◺A)/c for c > 0. X ↦ softmax(◺(Q(X)×K(X)ᵀ/c)) is a causal kernel if Q and K are autoregressive. That
// means: it is n×n and lower triangular, and for X|i it is the leading i×i block of the one for X. (Article, "Rowwise
// and autoregressive matrix operations"; "Causal Attention with one head" divides outside of ◺, the multi-head version
// inside.)
//
// The article calls softmax(◺A) rowwise. By its definition it is not: ◺ depends on the row's index, and the width of A
// on n.
//
// Derivation. exp(−∞) = 0, so hidden entries add nothing to the sum and get no share of it. Here they are not even
// read. Row i of Q(X|i) and rows 1, …, i of K(X|i) are those of Q(X) and K(X), and entry (i, j), j ≤ i, depends on no
// others.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "controls.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

template <class Mask>
using LinearKernel =
    forms::SoftmaxKernel<d_model, Mask, Times<"W_Q", d_model, d_model>, Times<"W_K", d_model, d_model>>;
static_assert(causal_kernel<LinearKernel<Causal>>);
static_assert(!causal_kernel<LinearKernel<Unmasked>>);    // nothing is masked
static_assert(!causal_kernel<LinearKernel<OneTooMany>>);  // another mask is not ◺

namespace {

template <class Real>
using Square = AttentionWeights<1, Causal, Real, block>;

template <class Real>
Square<Real> random_square(std::size_t n, Generator& generator) {
  Square<Real> A{Sequences{n}, Sequences{n}};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) A(0, 0)(i, j) = draw<Real>(generator);
  return A;
}

/// softmax(◺A), in the place of A.
template <class Real>
void softmax_of_visible(Square<Real>& A) {
  for (std::size_t i = 0; i < A(0, 0).rows; ++i) softmax(A(0, 0).row(i));
}

/// A matrix of any shape, row by row.
using Entries = std::vector<std::vector<double>>;

/// All entries of A.
Entries table(const Square<double>& A) {
  const std::size_t n = A.keys().length(0);
  Entries entries(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) entries[i][j] = A(0, 0)(i, j);
  return entries;
}

/// ◺A: −∞ above the main diagonal.
Entries masked(Entries A) {
  for (std::size_t i = 0; i < A.size(); ++i)
    for (std::size_t j = i + 1; j < A[i].size(); ++j) A[i][j] = -std::numeric_limits<double>::infinity();
  return A;
}

/// A/c.
Entries divided(Entries A, double c) {
  for (auto& row : A)
    for (double& a : row) a /= c;
  return A;
}

/// exp(a_ij) / Σ_k exp(a_ik), where exp(−∞) = 0.
Entries softmax_of_all(Entries A) {
  for (auto& row : A) {
    double sum = 0;
    for (double& a : row) sum += a = std::exp(a);
    for (double& a : row) a /= sum;
  }
  return A;
}

}  // namespace

TEST_CASE("each row of softmax(◺A) sums to 1: exactly over the prime field, n ≤ 6" *
          doctest::description("rows_of_softmax_of_triangle")) {
  redrawing(1, [](Generator& generator) {
    for (std::size_t n = 1; n <= greatest_n; ++n) {
      INFO("n = ", n);
      auto A = random_square<PrimeField>(n, generator);
      softmax_of_visible(A);
      for (std::size_t i = 0; i < n; ++i) CHECK(same(sum_of(A(0, 0).row(i)), PrimeField(1)));
    }
    return true;
  });
}

TEST_CASE(
    "softmax(◺A) is lower triangular: row i of softmax(◺A)×V depends on no row of V after i, for every A and V, over "
    "sets of "
    "positions, n ≤ 6" *
    doctest::description("softmax_of_triangle_is_lower_triangular, attention_to_what_is_visible")) {
  for (std::size_t n = 1; n <= greatest_n; ++n) {
    INFO("n = ", n);
    Square<Dependencies> A{Sequences{n}, Sequences{n}};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) A(0, 0)(i, j) = Dependencies(1);
    softmax_of_visible(A);
    const auto V = tagged(Sequences{n}, 1).template as<Matrix<tlm::n, 1, Dependencies>>();
    Matrix<tlm::n, 1, Dependencies> Y{Sequences{n}};
    accumulate<1>(detail::view(Y), A(0, 0), detail::view(V));
    for (std::size_t i = 0; i < n; ++i) {
      INFO("i = ", i + 1, ": it depends on the rows ", shown(Y(i, 0)));
      REQUIRE((Y(i, 0).tags() >> (i + 1)) == 0);
    }
  }
}

TEST_CASE(
    "a row of softmax(◺A) does not change with hidden entries, to the last bit: 800, 1e30, ∞, −∞, NaN, in double, n = "
    "6") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double hidden : {800.0, 1e30, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    Generator generator{2};
    auto A = random_square<double>(greatest_n, generator), B = A;
    for (std::size_t i = 0; i < greatest_n; ++i)
      for (std::size_t j = 0; j < greatest_n; ++j) B(0, 0)(i, j) = j <= i ? A(0, 0)(i, j) : hidden;
    softmax_of_visible(A);
    softmax_of_visible(B);
    for (std::size_t i = 0; i < greatest_n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        INFO("hidden entries are ", hidden, ", n = ", greatest_n, ", row ", i + 1, ", column ", j + 1);
        REQUIRE(A(0, 0)(i, j) == B(0, 0)(i, j));
      }
  }
}

TEST_CASE(
    "leaving hidden entries out is masking them by −∞: softmax(◺A) by its formula, with 0 above the diagonal, in "
    "double within 1e-15, n ≤ 6" *
    doctest::description("softmax_of_hidden, attention_to_what_is_visible, softmax_formula")) {
  Generator generator{5};
  for (std::size_t n = 1; n <= greatest_n; ++n) {
    INFO("n = ", n);
    auto A = random_square<double>(n, generator);
    const auto expected = softmax_of_all(masked(table(A)));
    softmax_of_visible(A);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        INFO("row ", i + 1, ", column ", j + 1, ": left out ", j <= i ? A(0, 0)(i, j) : 0, ", by −∞ ", expected[i][j]);
        REQUIRE(std::abs((j <= i ? A(0, 0)(i, j) : 0) - expected[i][j]) <= 1e-15);
      }
  }
}

TEST_CASE(
    "a product of two matrices softmax(◺A)×softmax(◺B) has rows ≥ 0 of sum 1, so that attention to averages of values "
    "gives averages of values: in double within 1e-15, n = 6" *
    doctest::description("product_of_stochastic_is_stochastic, rows_of_softmax_of_triangle, softmax_of_hidden")) {
  Generator generator{7};
  const Entries A = softmax_of_all(masked(table(random_square<double>(greatest_n, generator)))),
                B = softmax_of_all(masked(table(random_square<double>(greatest_n, generator))));
  for (std::size_t i = 0; i < greatest_n; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < greatest_n; ++j) {
      double product = 0;
      for (std::size_t k = 0; k < greatest_n; ++k) product += A[i][k] * B[k][j];
      REQUIRE(product >= 0);
      sum += product;
    }
    REQUIRE(std::abs(sum - 1) <= 1e-15);
  }
}

TEST_CASE("◺(A/c) = (◺A)/c for c > 0: in double with −∞, n = 6" * doctest::description("triangle_of_quotient")) {
  Generator generator{3};
  const Entries A = table(random_square<double>(greatest_n, generator));
  for (const double c : {std::sqrt(3.0), 0.5, 1e300, 1e-300}) {
    INFO("c = ", c);
    REQUIRE(masked(divided(A, c)) == divided(masked(A), c));
  }
}

TEST_CASE("control: ◺(A/c) is not (◺A)/c for c < 0, where −∞/c = ∞: in double, n = 6") {
  Generator generator{3};
  const Entries A = table(random_square<double>(greatest_n, generator));
  CHECK(masked(divided(A, -0.5)) != divided(masked(A), -0.5));
}

TEST_CASE(
    "softmax(◺A) is not rowwise, contrary to what the article says: for A = (0 0; 0 0) row 2 alone gives (1 0), and "
    "not (½ ½)" *
    doctest::description("softmax_of_triangle_is_not_rowwise")) {
  const std::vector<double> row{0, 0};
  CHECK(softmax_of_all(masked({row, row}))[1] == std::vector{0.5, 0.5});
  CHECK(softmax_of_all(masked({row}))[0] == std::vector{1.0, 0.0});
}

TEST_CASE(
    "softmax(◺(Q(X)×K(X)ᵀ/c)) is a causal kernel: for X|i it is the leading i×i block of that for X: Q and K linear, "
    "two heads, exactly over the prime field, n ≤ 6 (for generic Q and K: proofs/01_rules.cpp)" *
    doctest::description("softmax_kernel_is_causal")) {
  redrawing(4, [](Generator& generator) {
    const auto H = draw_layer<HeadsOf<Causal, n_heads, block, PrimeField>>(generator);
    for (std::size_t n = 1; n <= greatest_n; ++n) {
      INFO("n = ", n, ", seed 4");
      const auto X = draw_matrix<Matrix<tlm::n, d_model, PrimeField>>(Sequences{n}, generator);
      const auto A_X = H.value_and_weights(X).weights;
      for (std::size_t i = 1; i <= n; ++i) {
        const auto A_Xi = H.value_and_weights(X | i).weights;
        for (std::size_t h = 0; h < n_heads; ++h)
          for (std::size_t r = 0; r < i; ++r)
            for (std::size_t j = 0; j <= r; ++j) {
              INFO("i = ", i, ", head ", h + 1, ", row ", r + 1, ", column ", j + 1);
              REQUIRE(same(A_Xi(0, h)(r, j), A_X(0, h)(r, j)));
            }
      }
    }
    return true;
  });
}

TEST_CASE("control: with one key too many visible, softmax(◺(Q(X)×K(X)ᵀ/c)) is not a causal kernel") {
  redrawing(4, [](Generator& generator) {
    const auto H = draw_layer<HeadsOf<OneTooMany, n_heads, block, PrimeField>>(generator);
    const auto A = [&](const auto& X) { return H.value_and_weights(X).weights; };
    const auto X = draw_matrix<Matrix<tlm::n, d_model, PrimeField>>(Sequences{2}, generator);
    CHECK(!same(A(X | 1)(0, 0)(0, 0), A(X)(0, 0)(0, 0)));
    return true;
  });
}
