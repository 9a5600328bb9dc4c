// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

#include <tlm/matrix/product.hpp>

#include "../support.hpp"

using namespace tlm;
using namespace tlm::tests;

namespace {

/// How far sums of so many terms up to 1 may be from the plain loop's.
template <class Real>
double tolerance(std::size_t terms) {
  return double(terms + 1) * double(std::numeric_limits<Real>::epsilon());
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
  const auto W = random_matrix<Matrix<inner, cols, Real>>(generator);

  CHECK(distance(table(X * W), reference::product(table(X), table(W))) <= tolerance<Real>(inner));

  reference::Table W_transposed(cols, inner), X_transposed(inner, n_rows);
  for (std::size_t i = 1; i <= inner; ++i) {
    for (std::size_t j = 1; j <= cols; ++j) W_transposed(j, i) = double(W(i - 1, j - 1));
    for (std::size_t j = 1; j <= n_rows; ++j) X_transposed(i, j) = double(X(j - 1, i - 1));
  }
  CHECK(distance(table(Y * transposed(W)), reference::product(table(Y), W_transposed)) <= tolerance<Real>(cols));

  auto G = W;
  accumulate(G, transposed(X), Y);
  CHECK(distance(table(G), reference::sum(table(W), reference::product(X_transposed, table(Y)))) <=
        tolerance<Real>(n_rows));
}

// With kernels for AVX2, of 33 rows 32 are a matrix.
static_assert(blas::rows_as_matrix(33) == 32 && blas::rows_as_matrix(8) == 8 && blas::rows_as_matrix(7) == 0);

// Of a single row, with those for AVX-512, the product with the values of a head is one, and that with its keys.
static_assert(blas::row_as_matrix(500, 64, true) && blas::row_as_matrix(64, 500, false));
static_assert(!blas::row_as_matrix(500, 128, true) && !blas::row_as_matrix(500, 16, true));
static_assert(!blas::row_as_matrix(16, 500, false));

// With those for AVX-512, what is small is one piece, by a transpose only what has few entries.
static_assert(blas::pieces(100, 100, 100, true, true) == blas::Pieces{100, 100, 100, false});
static_assert(blas::pieces(12, 100, 100, true, false) == blas::Pieces{12, 100, 100, false});
static_assert(blas::pieces(13, 100, 100, true, false) == blas::Pieces{13, 48, 512, false});
// Of few rows each piece is the wider.
static_assert(blas::pieces(4, 512, 2048, true, true) == blas::Pieces{4, 384, 512, false});
static_assert(blas::pieces(1, 64, 1300, true, false) == blas::Pieces{1, 1152, 512, false});
// Where there are many, what they are multiplied by is laid in rows.
static_assert(blas::pieces(127, 512, 512, true, true) == blas::Pieces{24, 64, 512, false});
static_assert(blas::pieces(128, 512, 512, true, true) == blas::Pieces{24, 64, 512, true});
static_assert(blas::pieces(63, 100, 300, true, false) == blas::Pieces{24, 48, 512, false});
static_assert(blas::pieces(64, 100, 300, true, false) == blas::Pieces{24, 64, 512, true});
// Xᵀ×Y is not divided, unless Y is as narrow as a head.
static_assert(blas::pieces(512, 512, 64, false, true) == blas::Pieces{24, 64, 512, true});
static_assert(blas::pieces(512, 512, 65, false, true) == blas::Pieces{512, 65, 512, false});

}  // namespace

TEST_CASE_TEMPLATE("the product by BLAS is the plain loop's", Real, float, double) {
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
  const auto W = random_matrix<Matrix<6, 5>>(generator);
  const auto clean = X * W;
  for (std::size_t j = 0; j < 6; ++j) X(39, j) = std::numeric_limits<float>::quiet_NaN();
  CHECK(rows(X * W, 0, 39) == rows(clean, 0, 39));
}

TEST_CASE("parts of matrices are multiplied in place, with a factor, over or onto what is there") {
  const Matrix<n, 3, double> A{1, 2, 3, 4, 5, 6};
  Matrix<n, 3, double> C{Sequences{2}, 1.0};
  const auto corner = view(C).block(0, 2, 1, 2);
  multiply(view(A).block(0, 2, 0, 2), view(A).block(0, 2, 1, 2).transposed(), corner, Present::added_to, 10.0);
  CHECK(C == Matrix<n, 3, double>{1, 1 + 10 * 8, 1 + 10 * 17, 1, 1 + 10 * 23, 1 + 10 * 50});
  multiply(view(A).block(0, 2, 0, 1), view(A).block(0, 1, 1, 2), corner);
  CHECK(C == Matrix<n, 3, double>{1, 2, 3, 1, 8, 12});
  // A row, times what lies as rows, and as columns.
  multiply(view(A).block(0, 1, 0, 2), view(A), view(C).block(0, 1, 0, 3));
  multiply(view(A).block(0, 1, 0, 3), view(A).transposed(), view(C).block(1, 1, 0, 2), Present::added_to, 10.0);
  CHECK(C == Matrix<n, 3, double>{9, 12, 15, 1 + 10 * 14, 8 + 10 * 32, 12});
}

TEST_CASE_TEMPLATE("of any number of rows each is multiplied, which lie as rows or as columns", Real, float, double) {
  Generator generator{3};
  for (std::size_t rows = 1; rows <= 13; ++rows)
    for (const bool A_lies_as_rows : {true, false})
      for (const bool B_lies_as_rows : {true, false})
        for (const Present present : {Present::overwritten, Present::added_to}) {
          CAPTURE(rows);
          CAPTURE(A_lies_as_rows);
          CAPTURE(B_lies_as_rows);
          CAPTURE(present == Present::added_to);
          const auto M = random_rows<Matrix<n, 13, Real>>(Sequences{13}, generator),
                     N = random_rows<Matrix<n, 13, Real>>(Sequences{13}, generator);
          const auto a = (A_lies_as_rows ? view(M) : view(M).transposed()).block(0, rows, 1, 5);
          const auto b = (B_lies_as_rows ? view(N) : view(N).transposed()).block(2, 5, 3, 6);
          auto C = random_rows<Matrix<n, 13, Real>>(Sequences{13}, generator), by_loops = C;
          const auto c = view(by_loops).block(0, rows, 4, 6);
          for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < 6; ++j) {
              if (present == Present::overwritten) c(i, j) = 0;
              for (std::size_t k = 0; k < 5; ++k) c(i, j) += Real(0.5) * a(i, k) * b(k, j);
            }
          multiply(a, b, view(C).block(0, rows, 4, 6), present, 0.5);
          CHECK(distance(table(C), table(by_loops)) <= tolerance<Real>(6));
        }
}

TEST_CASE_TEMPLATE(
    "for whichever kernels a product is divided, it is the plain loop's: with a factor, over and onto what is there",
    Real, float, double) {
  struct Shape {
    std::size_t rows, inner, cols;
  };
  constexpr std::size_t step = 1100;  // the columns of all matrices, of which the factors are parts
  Generator generator{2};
  const auto M = random_rows<Matrix<n, step, Real>>(Sequences{620}, generator),
             N = random_rows<Matrix<n, step, Real>>(Sequences{1100}, generator);
  const auto before = random_rows<Matrix<n, step, Real>>(Sequences{140}, generator);
  const auto check = [&](View<const Real> a, View<const Real> b, blas::Kernels kernels, Present present) {
    auto C = before, by_loops = before;
    const auto c = view(by_loops).block(0, a.rows, 3, b.cols);
    for (std::size_t i = 0; i < a.rows; ++i)
      for (std::size_t j = 0; j < b.cols; ++j) {
        double sum = present == Present::overwritten ? 0 : double(c(i, j));
        for (std::size_t k = 0; k < a.cols; ++k) sum += 0.5 * double(a(i, k)) * double(b(k, j));
        c(i, j) = Real(sum);
      }
    blas::multiply<Real>(a, b, view(C).block(0, a.rows, 3, b.cols), present, Real(0.5), kernels);
    CHECK(distance(table(C), table(by_loops)) <= tolerance<Real>(a.cols));
  };
  for (const Shape& shape : {Shape{0, 5, 6}, Shape{3, 0, 5}, Shape{1, 600, 64}, Shape{1, 40, 1090}, Shape{3, 600, 1050},
                             Shape{30, 600, 100}, Shape{70, 600, 150}, Shape{130, 530, 70}})
    for (const blas::Kernels kernels : {blas::Kernels::avx2, blas::Kernels::avx512, blas::Kernels::others})
      for (const Present present : {Present::overwritten, Present::added_to})
        for (const bool A_lies_as_rows : {true, false})
          for (const bool B_lies_as_rows : {true, false}) {
            const std::size_t rows = shape.rows, inner = shape.inner, cols = shape.cols;
            CAPTURE(rows);
            CAPTURE(int(kernels));
            CAPTURE(present == Present::added_to);
            CAPTURE(A_lies_as_rows);
            CAPTURE(B_lies_as_rows);
            check(A_lies_as_rows ? view(M).block(0, rows, 5, inner) : view(M).block(0, inner, 5, rows).transposed(),
                  B_lies_as_rows ? view(N).block(0, inner, 7, cols) : view(N).block(0, cols, 7, inner).transposed(),
                  kernels, present);
          }
  // As narrow as a head.
  check(view(M).block(0, 530, 5, 130).transposed(), view(N).block(0, 530, 1, 60), blas::Kernels::avx512,
        Present::overwritten);
}

TEST_CASE("the sum of the rows is added to a row") {
  Matrix<1, 2> b{1, 2};
  accumulate_rows(b, Matrix<n, 2>{10, 20, 30, 40});
  CHECK(b == Matrix<1, 2>{41, 62});
}

TEST_CASE("Xᵀ×Y of unequal numbers of rows is refused, and adds nothing") {
  const Matrix<n, 3> X{1, 2, 3, 4, 5, 6};
  Matrix<3, 2> G;
  CHECK_THROWS_WITH_AS(accumulate(G, transposed(X), Matrix<n, 2>{1, 2}),
                       "in a product Xᵀ×Y both have as many rows: X has 2, Y has 1", std::invalid_argument);
  CHECK(G == Matrix<3, 2>{});
}
