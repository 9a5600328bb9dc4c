// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>

#include <tlm/matrix/matrix.hpp>

namespace tlm::detail {

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

  /// `height` rows from row `top`, `width` columns from column `left`.
  View block(std::size_t top, std::size_t height, std::size_t left, std::size_t width) const {
    return {data + top * row_step + left * col_step, height, width, row_step, col_step};
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

}  // namespace tlm::detail
