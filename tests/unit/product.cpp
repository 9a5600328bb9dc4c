// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <tlm/matrix/product.hpp>

#include "../support.hpp"

namespace tlm::tests::in_product {

namespace {

/// How far sums of this many terms up to 1 may be from those of the plain loop.
template <class Real>
double tolerance(std::size_t terms) {
  return double(terms + 1) *
         std::max(double(std::numeric_limits<Real>::epsilon()), 0x1p-52);  // the loop's is in double
}

/// All three forms of the product for one shape, against the plain loop.
template <class Real, std::size_t inner, std::size_t cols>
void compare(std::size_t n_rows) {
  CAPTURE(n_rows);
  CAPTURE(inner);
  CAPTURE(cols);
  Generator generator{n_rows};
  const auto X = random_rows<Matrix<n, inner, Real>>(Sequences{n_rows}, generator);
  const auto Y = random_rows<Matrix<n, cols, Real>>(Sequences{n_rows}, generator);
  const auto W = randomized(Matrix<inner, cols, Real>{}, generator);

  CHECK(distance(table(X * W), reference::product(table(X), table(W))) <= tolerance<Real>(inner));

  CHECK(distance(table(Y * transposed(W)), reference::product(table(Y), reference::transposed(table(W)))) <=
        tolerance<Real>(cols));

  auto G = W;
  accumulate(G, transposed(X), Y);
  const auto added = reference::product(reference::transposed(table(X)), table(Y));
  CHECK(distance(table(G), reference::sum(table(W), added)) <= tolerance<Real>(n_rows));
}

}  // namespace

// Of long double the library has a loop of its own.
TEST_CASE_TEMPLATE("the product is the plain loop's, by BLAS and without", Real, float, double, long double) {
  for (const std::size_t n_rows : {1u, 2u, 7u, 33u, 70u}) {
    compare<Real, 1, 1>(n_rows);
    compare<Real, 1, 5>(n_rows);
    compare<Real, 5, 1>(n_rows);
    compare<Real, 3, 4>(n_rows);
    compare<Real, 64, 17>(n_rows);
    compare<Real, 70, 300>(n_rows);
    compare<Real, 1300, 40>(n_rows);
  }
}

TEST_CASE("a product over no rows has no rows, and adds nothing") {
  const Matrix<n, 3> X;
  CHECK((X * Matrix<3, 2>{}).rows() == 0);
  Matrix<3, 3> G{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto before = G;
  accumulate(G, transposed(X), X);
  CHECK(G == before);
}

TEST_CASE("a product of two matrices with fixed numbers of rows, whichever way the numbers are written") {
  const Matrix<2, 3> A{1, 2, 3, 4, 5, 6};
  const Matrix<std::size_t{3}, 2> B{1, 0, 0, 1, 1, 1};
  CHECK(A * B == Matrix<2, 2>{4, 5, 10, 11});
  CHECK(A * transposed(A) == Matrix<2, 2>{14, 32, 32, 77});
  CHECK(Matrix<n, 2>{1, 1} * A == Matrix<n, 3>{5, 7, 9});
}

TEST_CASE("a product keeps the sequences of its left factor, empty ones too") {
  const Matrix<n, 3> with_empty{Sequences::of_lengths({0, 2, 0}), 1.0f};
  CHECK((with_empty * Matrix<3, 2>{}).sequences() == with_empty.sequences());

  const Matrix<n, 3> X{unequal(), 1.0f};
  const Matrix<3, 2> W;
  CHECK((X * W).sequences() == unequal());
  CHECK(((X * W) * transposed(W)).sequences() == unequal());
}

TEST_CASE("row i of a product depends on row i of its left factor alone, even beside NaN") {
  Generator generator{1};
  auto X = random_rows<Matrix<n, 6>>(Sequences{40}, generator);
  const auto W = randomized(Matrix<6, 5>{}, generator);
  const auto clean = X * W;
  for (std::size_t j = 0; j < 6; ++j) X(39, j) = std::numeric_limits<float>::quiet_NaN();
  CHECK(rows(X * W, 0, 39) == rows(clean, 0, 39));
}

TEST_CASE_TEMPLATE("of any number of rows each is multiplied, which lie as rows or as columns", Real, float, double,
                   long double) {
  Generator generator{3};
  for (std::size_t rows = 1; rows <= 13; ++rows)
    for (const bool A_lies_as_rows : {true, false})
      for (const bool B_lies_as_rows : {true, false}) {
        CAPTURE(rows);
        CAPTURE(A_lies_as_rows);
        CAPTURE(B_lies_as_rows);
        const auto M = random_rows<Matrix<n, 13, Real>>(Sequences{13}, generator),
                   N = random_rows<Matrix<n, 13, Real>>(Sequences{13}, generator);
        const auto a = (A_lies_as_rows ? detail::view(M) : detail::view(M).transposed()).block(0, rows, 1, 5);
        const auto b = (B_lies_as_rows ? detail::view(N) : detail::view(N).transposed()).block(2, 5, 3, 6);
        auto C = random_rows<Matrix<n, 13, Real>>(Sequences{13}, generator), by_loops = C;
        const auto c = detail::view(by_loops).block(0, rows, 4, 6);
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < 6; ++j)
            for (std::size_t k = 0; k < 5; ++k) c(i, j) += Real(0.5) * a(i, k) * b(k, j);
        detail::multiply(a, b, detail::view(C).block(0, rows, 4, 6), 0.5);
        CHECK(distance(table(C), table(by_loops)) <= tolerance<Real>(6));
      }
}

TEST_CASE("Xᵀ×Y of unequal numbers of rows is refused, and adds nothing") {
  const Matrix<n, 3> X{1, 2, 3, 4, 5, 6};
  Matrix<3, 2> G;
  CHECK_THROWS_WITH_AS(accumulate(G, transposed(X), Matrix<n, 2>{1, 2}),
                       "in a product Xᵀ×Y both have as many rows: X has 2, Y has 1", std::invalid_argument);
  CHECK(G == Matrix<3, 2>{});
}

}  // namespace tlm::tests::in_product
