// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <type_traits>

#include <tlm/matrix/blas.hpp>
#include <tlm/matrix/function_ref.hpp>
#include <tlm/matrix/helpers.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/matrix/refuse.hpp>
#include <tlm/matrix/view.hpp>

namespace tlm {

using blas::Present;

/// C = factor·A×B, or C += factor·A×B, by the thread that asks. The rows of C are contiguous. By BLAS for float and double; over
/// any other numbers by the definition, c_ij = Σ_k a_ik·b_kj.
template <class Real>
void multiply_alone(View<const std::type_identity_t<Real>> A, View<const std::type_identity_t<Real>> B, View<Real> C,
                    Present present = Present::overwritten, std::type_identity_t<Real> factor = Real(1)) {
  if constexpr (std::is_same_v<Real, float> || std::is_same_v<Real, double>) {
    blas::multiply<Real>(A, B, C, present, factor, blas::kernels());
  } else {
    for (std::size_t i = 0; i < C.rows; ++i)
      for (std::size_t j = 0; j < C.cols; ++j) {
        const Real entry = factor * sum_of(A.cols, [&](std::size_t k) { return A(i, k) * B(k, j); });
        C(i, j) = present == Present::added_to ? Real(C(i, j) + entry) : entry;
      }
  }
}

/// action(a, b, c) for the product of A and B in C; if it is large, together with the helpers of this thread, for the product of
/// some rows of A, or of some columns of B if C has more of them, for each: 16 after 16, which the kernels do at a time.
template <class Real>
void share_product(View<const Real> A, View<const Real> B, View<Real> C,
                   FunctionRef<void(View<const Real>, View<const Real>, View<Real>)> action) {
  constexpr std::size_t side = 16;
  const bool by_rows = C.rows >= C.cols;
  const std::size_t longer = std::max(C.rows, C.cols), shorter = std::min(C.rows, C.cols);
  in_shares((longer + side - 1) / side, side * A.cols * shorter, [&](std::size_t first, std::size_t last) {
    const std::size_t begin = first * side, count = std::min(last * side, longer) - begin;
    if (by_rows)
      action(A.block(begin, count, 0, A.cols), B, C.block(begin, count, 0, C.cols));
    else
      action(A, B.block(0, B.rows, begin, count), C.block(0, C.rows, begin, count));
  });
}

/// C = factor·A×B, or C += factor·A×B, as multiply_alone does; if it is large, together with the helpers of this thread.
template <class Real>
void multiply(View<const std::type_identity_t<Real>> A, View<const std::type_identity_t<Real>> B, View<Real> C,
              Present present = Present::overwritten, std::type_identity_t<Real> factor = Real(1)) {
  share_product<Real>(
      A, B, C, [&](View<const Real> a, View<const Real> b, View<Real> c) { multiply_alone(a, b, c, present, factor); });
}

/// Mᵀ as a factor of a product. It refers to M.
template <class M>
struct Transposed {
  const M& matrix;
};

/// Mᵀ as a factor of a product. It refers to M, so it is to be used where it is written.
template <auto rows, std::size_t cols, class Real>
Transposed<Matrix<rows, cols, Real>> transposed(const Matrix<rows, cols, Real>& M) {
  return {M};
}

/// The condition under which Left × Right exists; a failure shows both matrices.
template <class Left, class Right>
struct ProductExists;
template <auto rows, std::size_t inner, class Left, auto inner_right, std::size_t cols, class Right>
struct ProductExists<Matrix<rows, inner, Left>, Matrix<inner_right, cols, Right>> {
  static constexpr bool fits = !std::is_same_v<decltype(inner_right), Open> && inner == std::size_t(inner_right);
  static constexpr bool same_numbers = std::is_same_v<Left, Right>;
  static constexpr bool value = fits && same_numbers;
  static_assert(fits, "in a product A×B the matrix A has as many columns as B has rows");
  static_assert(!fits || same_numbers,
                "in a product A×B both matrices are of the same kind of numbers: both of float, or both of double");
};
template <auto rows, std::size_t inner, class Left, auto cols, std::size_t inner_right, class Right>
struct ProductExists<Matrix<rows, inner, Left>, Transposed<Matrix<cols, inner_right, Right>>> {
  static constexpr bool fits = inner == inner_right;
  static constexpr bool same_numbers = std::is_same_v<Left, Right>;
  static constexpr bool value = fits && same_numbers;
  static_assert(fits, "in a product A×Bᵀ both matrices have as many columns");
  static_assert(!fits || same_numbers,
                "in a product A×Bᵀ both matrices are of the same kind of numbers: both of float, or both of double");
};

/// X × W, which exists only where the inner dimensions agree; its rows are those of X, in the same sequences.
template <auto rows, std::size_t inner, class Real, auto inner_right, std::size_t cols, class Right>
Matrix<rows, cols, Real> operator*(const Matrix<rows, inner, Real>& X, const Matrix<inner_right, cols, Right>& W) {
  if constexpr (ProductExists<Matrix<rows, inner, Real>, Matrix<inner_right, cols, Right>>::value) {
    Matrix<rows, cols, Real> Y = X.template with_columns<cols>();
    multiply(view(X), view(W), view(Y));
    return Y;
  } else {
    return {};
  }
}

/// Y × Wᵀ; its rows are those of Y, in the same sequences.
template <auto rows, std::size_t inner, class Real, auto cols_, std::size_t inner_right, class Right>
auto operator*(const Matrix<rows, inner, Real>& Y, Transposed<Matrix<cols_, inner_right, Right>> W) {
  constexpr auto cols = std::size_t(cols_);
  if constexpr (ProductExists<Matrix<rows, inner, Real>, Transposed<Matrix<cols_, inner_right, Right>>>::value) {
    Matrix<rows, cols, Real> X = Y.template with_columns<cols>();
    multiply(view(Y), view(W.matrix).transposed(), view(X));
    return X;
  } else {
    return Matrix<rows, cols, Real>{};
  }
}

/// G += Xᵀ × Y. Throws std::invalid_argument unless X and Y have as many rows.
template <auto rows, std::size_t cols, class Real>
void accumulate(Matrix<rows, cols, Real>& G, Transposed<Matrix<n, std::size_t(rows), Real>> X,
                const Matrix<n, cols, Real>& Y) {
  if (X.matrix.rows() != Y.rows())
    refuse<std::invalid_argument>(
        {"in a product Xᵀ×Y both have as many rows: X has ", X.matrix.rows(), ", Y has ", Y.rows()});
  multiply(view(X.matrix).transposed(), view(Y), view(G), Present::added_to);
}

/// b += the sum of the rows of Y.
template <std::size_t cols, class Real>
void accumulate_rows(Row<cols, Real>& b, const Matrix<n, cols, Real>& Y) {
  for (std::size_t i = 0; i < Y.rows(); ++i) b.add_to_row(0, Y.row(i));
}

}  // namespace tlm
