// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <vector>

#ifndef TLM_BLAS_NONE
// The two functions of xtensor-blas that are used; its xblas.hpp would include all others too.
#include <complex>
#include <xtensor-blas/xblas_config.hpp>

#include <xflens/cxxblas/drivers/drivers.tcc>
#include <xflens/cxxblas/level2/gemv.tcc>
#include <xflens/cxxblas/level3/gemm.tcc>
#endif

#include <tlm/base/refuse.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/numbers/vector.hpp>

namespace tlm {

namespace detail {

/// Part of a matrix: entry (i, j) is data[i·row_step + j·col_step]. It refers to the matrix and owns nothing.
template <class Real>
struct View {
  Real* data;
  std::size_t rows, cols;
  std::size_t row_step, col_step = 1;

  Real& operator()(std::size_t i, std::size_t j) const { return data[i * row_step + j * col_step]; }

  /// True if the entries of a row are side by side, and not those of a column. (Both steps of a matrix of one column
  /// are 1. It counts as rows unless they would overlap.)
  bool by_rows() const { return col_step == 1 && row_step >= cols; }
  /// The distance between its rows, or between its columns.
  int leading() const { return int(by_rows() ? row_step : col_step); }

  /// The transpose: the same numbers, read the other way.
  View transposed() const { return {data, cols, rows, col_step, row_step}; }

  /// `height` rows from row `top`, `width` columns from column `left`. A matrix without rows may have no data.
  View block(std::size_t top, std::size_t height, std::size_t left, std::size_t width) const {
    return {data ? data + top * row_step + left * col_step : data, height, width, row_step, col_step};
  }

  operator View<const Real>() const requires(!std::is_const_v<Real>) { return {data, rows, cols, row_step, col_step}; }
};

/// The whole of a matrix.
template <class M>
auto view(M& X) -> View<std::remove_pointer_t<decltype(X.data())>> {
  return {X.data(), X.rows(), M::cols, M::cols};
}

/// The rows of sequence s of a stack.
template <class M>
auto view(M& X, std::size_t s) -> decltype(view(X)) {
  return view(X).block(X.sequences().begin(s), X.sequences().length(s), 0, M::cols);
}

/// C += factor·A×B, by the definition, c_ij += factor·Σ_k a_ik·b_kj: a sum of rows b_k of B is added to row i of C. The
/// rows of C are contiguous. Those of B are copied unless they are contiguous.
template <class Real>
void multiply(View<const std::type_identity_t<Real>> A, View<const std::type_identity_t<Real>> B, View<Real> C,
              std::type_identity_t<Real> factor = Real(1)) {
  std::vector<Real> copy;
  if (!B.by_rows()) {
    copy.resize(B.rows * B.cols);
    for (std::size_t j = 0; j < B.cols; ++j)
      for (std::size_t k = 0; k < B.rows; ++k) copy[k * B.cols + j] = B(k, j);
    B = {copy.data(), B.rows, B.cols, B.cols};
  }
  for (std::size_t i = 0; i < C.rows; ++i) {
    auto c_i = as_vector(&C(i, 0), C.cols);
    for (std::size_t k = 0; k < A.cols; ++k) c_i += factor * A(i, k) * as_vector(&B(k, 0), C.cols);
  }
}

#ifndef TLM_BLAS_NONE
/// The same for float and double, by any BLAS.
template <class Real>
void multiply(View<const std::type_identity_t<Real>> A, View<const std::type_identity_t<Real>> B, View<Real> C,
              std::type_identity_t<Real> factor = Real(1))  //
    requires(std::is_same_v<Real, float> || std::is_same_v<Real, double>) {
  using namespace cxxblas;
  if (C.rows == 0 || A.cols == 0) return;
  if (C.rows >= 4) {
    const auto stored = [](View<const Real> X) { return X.by_rows() ? NoTrans : Trans; };
    gemm(RowMajor, stored(A), stored(B), int(C.rows), int(C.cols), int(A.cols), factor, A.data, A.leading(), B.data,
         B.leading(), Real(1), C.data, int(C.row_step));
  } else {  // Few rows: C_i += factor·Bᵀ×A_i, as columns, row by row. gemm would take longer.
    for (std::size_t i = 0; i < C.rows; ++i)
      gemv(B.by_rows() ? ColMajor : RowMajor, NoTrans, int(B.cols), int(B.rows), factor, B.data, B.leading(), &A(i, 0),
           int(A.col_step), Real(1), &C(i, 0), 1);
  }
}
#endif

/// Mᵀ as a factor of a product. It refers to M.
template <class M>
struct Transposed {
  const M& matrix;
};

/// The condition under which a product with W exists: as many columns as rows, of the same numbers. A failure shows both.
template <class X, class W>
struct ProductExists;
template <class X, auto inner, std::size_t cols, class Real>
struct ProductExists<X, Matrix<inner, cols, Real>> {
  static constexpr bool fits = !std::is_same_v<decltype(inner), Open> && X::cols == std::size_t(inner);
  static constexpr bool value = fits && std::is_same_v<typename X::Real, Real>;
  static_assert(fits, "in a product A×B the matrix A has as many columns as B has rows");
  static_assert(!fits || value,
                "in a product A×B both matrices are of the same kind of numbers: both of float, or both of double");
};
template <class X, auto cols_, std::size_t inner, class Real>
struct ProductExists<X, Transposed<Matrix<cols_, inner, Real>>> {
  static constexpr bool fixed = !std::is_same_v<decltype(cols_), Open>;
  static constexpr std::size_t cols = fixed ? std::size_t(cols_) : 1;
  static constexpr bool fits = X::cols == inner, value = fixed && fits && std::is_same_v<typename X::Real, Real>;
  static_assert(fixed, "in a product A×Bᵀ the number of B's rows is fixed: B is no stack of sequences");
  static_assert(fits, "in a product A×Bᵀ both matrices have as many columns");
  static_assert(!fixed || !fits || value,
                "in a product A×Bᵀ both matrices are of the same kind of numbers: both of float, or both of double");
};

}  // namespace detail

/// Mᵀ as a factor of a product. It refers to M, so use it in the expression that makes it.
template <auto rows, std::size_t cols, class Real>
detail::Transposed<Matrix<rows, cols, Real>> transposed(const Matrix<rows, cols, Real>& M) {
  return {M};
}

/// X × W, which exists only where the inner dimensions agree; its rows are those of X, in the same sequences.
template <auto rows, std::size_t inner, class Real, auto inner_right, std::size_t cols, class Right>
auto operator*(const Matrix<rows, inner, Real>& X, const Matrix<inner_right, cols, Right>& W) {
  Matrix<rows, cols, Real> Y = X.template with_columns<cols>();
  if constexpr (detail::ProductExists<Matrix<rows, inner, Real>, Matrix<inner_right, cols, Right>>::value)
    multiply(detail::view(X), detail::view(W), detail::view(Y));
  return Y;
}

/// X × Wᵀ; its rows are those of X, in the same sequences.
template <auto rows, std::size_t inner, class Real, class W>
auto operator*(const Matrix<rows, inner, Real>& X, const detail::Transposed<W>& transpose) {
  using Exists = detail::ProductExists<Matrix<rows, inner, Real>, detail::Transposed<W>>;
  Matrix<rows, Exists::cols, Real> Y = X.template with_columns<Exists::cols>();
  if constexpr (Exists::value) multiply(detail::view(X), detail::view(transpose.matrix).transposed(), detail::view(Y));
  return Y;
}

/// G += Xᵀ × Y. Throws std::invalid_argument unless X and Y have as many rows.
template <auto rows, std::size_t cols, class Real>
void accumulate(Matrix<rows, cols, Real>& G, detail::Transposed<Matrix<n, std::size_t(rows), Real>> X,
                const Matrix<n, cols, Real>& Y) {
  if (X.matrix.rows() != Y.rows())
    refuse<std::invalid_argument>(
        {"in a product Xᵀ×Y both have as many rows: X has ", X.matrix.rows(), ", Y has ", Y.rows()});
  multiply(detail::view(X.matrix).transposed(), detail::view(Y), detail::view(G));
}

}  // namespace tlm
