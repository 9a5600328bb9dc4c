// SPDX-License-Identifier: MIT
// Claim 2. Let ◺A be the square matrix A with −∞ above the main diagonal. softmax(◺A) is lower triangular, and each of
// its rows sums to 1; row i does not change with the hidden entries A_ij, j > i, however large, infinite or NaN they are.
// ◺(A/c) = (◺A)/c for c > 0. X ↦ softmax(◺(Q(X)×K(X)ᵀ/c)) is a causal kernel if Q and K are autoregressive: it is n×n and lower
// triangular, and for X|i it is the leading i×i block of that for X.
// (Article, "Rowwise and autoregressive matrix operations"; "Causal Attention with one head" divides outside of ◺, the
// multi-head version inside.)
//
// softmax(◺A) is called rowwise there. By the definition it is not: ◺ depends on the row's index, and the width of A on n.
//
// Derivation. exp(−∞) = 0, so that hidden entries add nothing to the sum and get no share of it. Here they are not even
// read. Row i of Q(X|i) and rows 1, …, i of K(X|i) are those of Q(X) and K(X), and no others enter entry (i, j), j ≤ i.

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "controls.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

template <class Mask, class Real>
using KernelOf = SoftmaxKernel<n_heads, Mask, Times<"W_Q", d_model, d_model, Real>,
                               Times<"W_K", d_model, d_model, Real>, NoBias, block>;
static_assert(causal_kernel<KernelOf<Causal, double>>);
static_assert(!causal_kernel<KernelOf<Unmasked, double>>);    // nothing is masked
static_assert(!causal_kernel<KernelOf<OneTooMany, double>>);  // another mask is not ◺

namespace {

template <class Real>
using Square = KernelMatrices<1, Causal, Real, block>;

template <class Real>
Square<Real> random_square(std::size_t n, Generator& generator) {
  Square<Real> A{Sequences{n}, Sequences{n}};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) A(0, 0)(i, j) = draw<Real>(generator);
  return A;
}

}  // namespace

TEST_CASE("each row of softmax(◺A) sums to 1, exactly over the prime field") {
  redrawing(1, [](Generator& generator) {
    for (std::size_t n = 1; n <= greatest_n; ++n) {
      const auto A = random_square<PrimeField>(n, generator);
      softmax_of_visible(A);
      A.for_each_row([&](std::size_t s, std::size_t h, std::size_t i) {
        CHECK(sum_of(A.visible(s, i), [&](std::size_t j) { return A(s, h)(i, j); }) == PrimeField(1));
      });
    }
    return true;
  });
}

TEST_CASE("softmax(◺A) is lower triangular: row i of softmax(◺A)×V depends on the rows 1, …, i of V") {
  for (std::size_t n = 1; n <= greatest_n; ++n) {
    Square<Positions> A{Sequences{n}, Sequences{n}};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) A(0, 0)(i, j) = Positions(1);
    softmax_of_visible(A);
    const auto Y = A * tagged<Matrix<tlm::n, 1, Positions>>(Sequences{n});
    for (std::size_t i = 0; i < n; ++i) {
      INFO("n = ", n, ", i = ", i + 1);
      CHECK(Y(i, 0).tags() == (std::uint64_t{2} << i) - 1);
    }
  }
}

TEST_CASE("a row of softmax(◺A) does not change with hidden entries: 800, 1e30, infinity, NaN") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double hidden : {800.0, 1e30, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    Generator generator{2};
    const auto A = random_square<double>(greatest_n, generator), B = A.like();
    for (std::size_t i = 0; i < greatest_n; ++i)
      for (std::size_t j = 0; j < greatest_n; ++j) B(0, 0)(i, j) = j <= i ? A(0, 0)(i, j) : hidden;
    softmax_of_visible(A);
    softmax_of_visible(B);
    for (std::size_t i = 0; i < greatest_n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        INFO("n = ", greatest_n, ", row ", i + 1, ", column ", j + 1);
        CHECK(A(0, 0)(i, j) == B(0, 0)(i, j));
      }
  }
}

TEST_CASE(
    "masking commutes with dividing by c > 0: softmax(◺(A/c)) = softmax((◺A)/c), where hidden entries are left out") {
  redrawing(3, [](Generator& generator) {
    const auto A = random_square<PrimeField>(greatest_n, generator), B = A.like();
    const PrimeField c = PrimeField::random(generator);
    for (std::size_t i = 0; i < greatest_n; ++i)
      for (std::size_t j = 0; j < greatest_n; ++j) B(0, 0)(i, j) = A(0, 0)(i, j) / c;  // all entries: ◺(A/c)
    A.for_each_row([&](std::size_t s, std::size_t h, std::size_t i) {
      for (std::size_t j = 0; j < A.visible(s, i); ++j) A(s, h)(i, j) = A(s, h)(i, j) / c;  // the visible ones: (◺A)/c
    });
    softmax_of_visible(A);
    softmax_of_visible(B);
    for (std::size_t i = 0; i < greatest_n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        INFO("n = ", greatest_n, ", row ", i + 1, ", column ", j + 1);
        CHECK(A(0, 0)(i, j) == B(0, 0)(i, j));
      }
    return true;
  });
}

TEST_CASE("softmax(◺(Q(X)×K(X)ᵀ/c)) is a causal kernel: for X|i it is the leading i×i block of that for X") {
  redrawing(4, [](Generator& generator) {
    const auto A = draw_layer<KernelOf<Causal, PrimeField>>(generator);
    for (std::size_t n = 1; n <= greatest_n; ++n) {
      const auto X = draw_matrix<Matrix<tlm::n, d_model, PrimeField>>(Sequences{n}, generator);
      const auto A_X = A(X);
      for (std::size_t i = 1; i <= n; ++i) {
        const auto A_Xi = A(X | i);
        for (std::size_t h = 0; h < n_heads; ++h)
          for (std::size_t r = 0; r < i; ++r)
            for (std::size_t j = 0; j <= r; ++j) {
              INFO("n = ", n, ", i = ", i, ", head ", h + 1, ", row ", r + 1, ", column ", j + 1, ", seed 4");
              CHECK(A_Xi(0, h)(r, j) == A_X(0, h)(r, j));
            }
      }
    }
    return true;
  });
}

TEST_CASE("control: with one key too many visible, it is no causal kernel") {
  redrawing(4, [](Generator& generator) {
    const auto A = draw_layer<KernelOf<OneTooMany, PrimeField>>(generator);
    const auto X = draw_matrix<Matrix<tlm::n, d_model, PrimeField>>(Sequences{2}, generator);
    CHECK(A(X | 1)(0, 0)(0, 0) != A(X)(0, 0)(0, 0));
    return true;
  });
}
