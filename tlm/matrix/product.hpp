// SPDX-License-Identifier: MIT
#pragma once

// The order of the next three matters: cxxblas does not include what it uses, nor asks whether there is a BLAS.
#include <complex>

#include <xtensor-blas/xblas_config.hpp>

#include <xflens/cxxblas/cxxblas.cxx>
#ifndef CXXBLAS_DRIVERS_CBLAS_H
#error "tlm needs BLAS: include its headers before those of cxxblas, and without XTENSOR_USE_FLENS_BLAS"
#endif

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include <tlm/matrix/helpers.hpp>
#include <tlm/matrix/matrix.hpp>

/// Of OpenBLAS, whose header and that of xtensor-blas do not go together: for which processors its kernels are.
extern "C" char* openblas_get_corename();

namespace tlm {

/// Part of a matrix: entry (i, j) lies at data[i·row_step + j·col_step]. It refers to the matrix and owns nothing.
template <class Real>
struct View {
  Real* data;
  std::size_t rows, cols;
  std::size_t row_step, col_step = 1;

  Real& operator()(std::size_t i, std::size_t j) const { return data[i * row_step + j * col_step]; }

  /// The transpose: the same numbers, read the other way.
  View transposed() const { return {data, cols, rows, col_step, row_step}; }

  /// `height` rows from row `top`, `width` columns from column `left`.
  View block(std::size_t top, std::size_t height, std::size_t left, std::size_t width) const {
    return {data + top * row_step + left * col_step, height, width, row_step, col_step};
  }

  operator View<const Real>() const requires(!std::is_const_v<Real>) { return {data, rows, cols, row_step, col_step}; }
};

/// The whole of a matrix.
template <auto rows, std::size_t cols, class Real>
View<Real> view(Matrix<rows, cols, Real>& X) {
  return {X.data(), X.rows(), cols, cols};
}

/// The whole of a matrix.
template <auto rows, std::size_t cols, class Real>
View<const Real> view(const Matrix<rows, cols, Real>& X) {
  return {X.data(), X.rows(), cols, cols};
}

/// The rows of sequence s of a stack.
template <std::size_t cols, class Real>
View<Real> view(Matrix<n, cols, Real>& X, std::size_t s) {
  return view(X).block(X.sequences().begin(s), X.sequences().length(s), 0, cols);
}

/// The rows of sequence s of a stack.
template <std::size_t cols, class Real>
View<const Real> view(const Matrix<n, cols, Real>& X, std::size_t s) {
  return view(X).block(X.sequences().begin(s), X.sequences().length(s), 0, cols);
}

/// What becomes of the entries that are already there.
enum class Present { overwritten, added_to };

/// What the kernels that OpenBLAS multiplies with are for.
enum class Kernels { avx2, avx512, others };

/// Those of this processor, or of OPENBLAS_CORETYPE.
inline Kernels kernels() {
  static const Kernels known = [] {
    const std::string_view core = openblas_get_corename();
    if (core == "Haswell" || core == "Zen") return Kernels::avx2;
    if (core == "SkylakeX" || core == "Cooperlake") return Kernels::avx512;
    return Kernels::others;
  }();
  return known;
}

/// How many columns of a product of rows×inner and inner×cols, both of which lie as rows, are computed at once: a multiple of
/// 64, or all of them.
///
/// OpenBLAS copies the factors before it multiplies, but its kernels for AVX-512 not those of a product of up to 10⁶
/// multiplications. So one of few rows is computed in strips of so many. (Measured with floats, on one thread: 16 rows times a
/// matrix of 512×2048 take 1/2.2 of the time, 4 rows 1/5; with kernels for AVX2 up to a tenth more.) Where no 64 columns are
/// so few, copying pays.
constexpr std::size_t columns_at_once(std::size_t rows, std::size_t inner, std::size_t cols) {
  constexpr std::size_t not_copied = 1'000'000, at_a_time = 64;
  if (rows * inner * cols <= not_copied) return cols;
  const std::size_t at_most = not_copied / (rows * inner) / at_a_time * at_a_time;
  return at_most == 0 ? cols : std::min(cols, at_most);
}

/// The same of a single row times the transpose of what lies as rows: no more than 1,200, or it is copied.
constexpr std::size_t columns_of_transpose_at_once(std::size_t inner, std::size_t cols) {
  constexpr std::size_t at_most = 1'152;  // the last multiple of 64
  return std::min(columns_at_once(1, inner, cols), at_most);
}

/// How many rows of a product are given to BLAS as a matrix, if it has so many: the first ones. Each of the others is given by
/// itself, as a vector, for which nothing is copied.
///
/// With kernels for AVX2 two or three rows take as long as four, or longer. So fewer than 8 go one by one, and of more those
/// that are left over by fours. (Measured on one thread, against all of them as a matrix: 2 and 3 rows take 1/3 to 2/3 of the
/// time, 4 to 7 mostly 0.6 to 1, from 8 on about the same.) Other kernels are given all but a single row as a matrix.
constexpr std::size_t rows_as_matrix(std::size_t rows, Kernels by) {
  if (by != Kernels::avx2) return rows == 1 ? 0 : rows;
  return rows < 8 ? 0 : rows / 4 * 4;
}

/// Whether even a single row is: by kernels for AVX-512, which copy none of it, where the right factor lies in rows as wide as a
/// head mostly is, that of the values, and its transpose, that of the keys. (Measured with floats, on one thread, against the row
/// as a vector: 32 to 96 columns take 0.65 to 1 of the time, and the transpose of as many or more 0.65 to 0.85; of 16 twice.)
constexpr bool row_as_matrix(std::size_t inner, std::size_t cols, bool transposed, Kernels by) {
  return by == Kernels::avx512 && (transposed ? inner >= 32 : cols >= 32 && cols <= 96);
}

/// C = factor·A×B, or C += factor·A×B, by the thread that asks. The rows of C are contiguous. By BLAS for float and double; over
/// any other numbers by the definition, c_ij = Σ_k a_ik·b_kj.
template <class Real>
void multiply_alone(View<const std::type_identity_t<Real>> A, View<const std::type_identity_t<Real>> B, View<Real> C,
                    Present present = Present::overwritten, std::type_identity_t<Real> factor = Real(1)) {
  if constexpr (std::is_same_v<Real, float> || std::is_same_v<Real, double>) {
    if (C.rows == 0 || C.cols == 0) return;
    // Both steps of a matrix of one column are 1: it lies as rows unless they would overlap.
    const auto by_rows = [](const auto& X) { return X.col_step == 1 && X.row_step >= X.cols; };
    const auto transposition = [&](const auto& X) { return by_rows(X) ? cxxblas::NoTrans : cxxblas::Trans; };
    const auto leading = [&](const auto& X) { return int(by_rows(X) ? X.row_step : X.col_step); };
    const bool one = C.rows == 1 && by_rows(A) && row_as_matrix(A.cols, C.cols, !by_rows(B), kernels());
    const std::size_t together = one ? 1 : rows_as_matrix(C.rows, kernels());
    if (together > 0) {
      const std::size_t width = by_rows(A) && by_rows(B) ? columns_at_once(together, A.cols, C.cols)
                                : one                    ? columns_of_transpose_at_once(A.cols, C.cols)
                                                         : C.cols;
      for (std::size_t left = 0; left < C.cols; left += width)
        cxxblas::gemm<int>(cxxblas::RowMajor, transposition(A), transposition(B), int(together),
                           int(std::min(width, C.cols - left)), int(A.cols), factor, A.data, leading(A), &B(0, left),
                           leading(B), present == Present::added_to ? Real(1) : Real(0), &C(0, left), leading(C));
    }
    for (std::size_t i = together; i < C.rows; ++i) {  // C_i = Bᵀ×A_i as columns
      if (present == Present::overwritten) std::fill_n(&C(i, 0), C.cols, Real(0));
      cxxblas::gemv<int>(cxxblas::RowMajor, by_rows(B) ? cxxblas::Trans : cxxblas::NoTrans,
                         int(by_rows(B) ? B.rows : B.cols), int(by_rows(B) ? B.cols : B.rows), factor, B.data,
                         leading(B), &A(i, 0), int(A.col_step), Real(1), &C(i, 0), 1);
    }
  } else {
    for (std::size_t i = 0; i < C.rows; ++i)
      for (std::size_t j = 0; j < C.cols; ++j) {
        const Real entry = factor * sum_of(A.cols, [&](std::size_t k) { return A(i, k) * B(k, j); });
        C(i, j) = present == Present::added_to ? Real(C(i, j) + entry) : entry;
      }
  }
}

/// C = factor·A×B, or C += factor·A×B, as multiply_alone does; if it is large, together with the helpers of this thread, each of
/// which computes some of its rows, or of its columns if C has more of them: 16 after 16, which its kernels do at a time.
template <class Real>
void multiply(View<const std::type_identity_t<Real>> A, View<const std::type_identity_t<Real>> B, View<Real> C,
              Present present = Present::overwritten, std::type_identity_t<Real> factor = Real(1)) {
  constexpr std::size_t side = 16;
  const bool by_rows = C.rows >= C.cols;
  const std::size_t longer = std::max(C.rows, C.cols), shorter = std::min(C.rows, C.cols);
  in_shares((longer + side - 1) / side, side * A.cols * shorter, [&](std::size_t first, std::size_t last) {
    const std::size_t begin = first * side, count = std::min(last * side, longer) - begin;
    if (by_rows)
      multiply_alone(A.block(begin, count, 0, A.cols), B, C.block(begin, count, 0, C.cols), present, factor);
    else
      multiply_alone(A, B.block(0, B.rows, begin, count), C.block(0, C.rows, begin, count), present, factor);
  });
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
    throw std::invalid_argument("in a product Xᵀ×Y both have as many rows: X has " + std::to_string(X.matrix.rows()) +
                                ", Y has " + std::to_string(Y.rows()));
  multiply(view(X.matrix).transposed(), view(Y), view(G), Present::added_to);
}

/// b += the sum of the rows of Y.
template <std::size_t cols, class Real>
void accumulate_rows(Row<cols, Real>& b, const Matrix<n, cols, Real>& Y) {
  for (std::size_t i = 0; i < Y.rows(); ++i) b.add_to_row(0, Y.row(i));
}

}  // namespace tlm
