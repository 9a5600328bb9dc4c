// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include <tlm/matrix/matrix.hpp>

/// Functions that put the same rows and columns into other stacks and matrices.
namespace tlm {

/// All the sequences of all these matrices, one under the other. A part without sequences, such as {}, counts as one
/// sequence without rows. So parts that belong together keep the same number.
template <std::size_t cols, class Real>
Matrix<n, cols, Real> concat_sequences(const std::vector<Matrix<n, cols, Real>>& parts) {
  std::vector<std::size_t> lengths;
  for (const auto& part : parts) {
    if (part.sequences().count() == 0) lengths.push_back(0);
    for (std::size_t s = 0; s < part.sequences().count(); ++s) lengths.push_back(part.sequences().length(s));
  }
  Matrix<n, cols, Real> stacked{Sequences::of_lengths(lengths)};
  Real* next = stacked.data();
  for (const auto& part : parts) next = std::copy_n(part.data(), part.rows() * cols, next);
  return stacked;
}

/// Sequence s of a stack, on its own. Throws std::out_of_range if there is none.
template <std::size_t cols, class Real>
Matrix<n, cols, Real> sequence(const Matrix<n, cols, Real>& X, std::size_t s) {
  if (s >= X.sequences().count())
    refuse<std::out_of_range>({"there is no sequence ", s, " in a stack of ", X.sequences().count()});
  Matrix<n, cols, Real> alone{Sequences{X.sequences().length(s)}};
  std::copy_n(X.data() + X.sequences().begin(s) * cols, alone.rows() * cols, alone.data());
  return alone;
}

/// Sequences first, …, last − 1 of a stack, one under the other. Throws std::out_of_range unless they are in X.
template <std::size_t cols, class Real>
Matrix<n, cols, Real> sequences_of(const Matrix<n, cols, Real>& X, std::size_t first, std::size_t last) {
  if (first > last || last > X.sequences().count())
    refuse<std::out_of_range>(
        {"sequences from ", first, " to before ", last, " are not all in a stack of ", X.sequences().count()});
  std::vector<Matrix<n, cols, Real>> chosen;
  for (std::size_t s = first; s < last; ++s) chosen.push_back(sequence(X, s));
  return concat_sequences(chosen);
}

/// The rows of F and of G side by side. Throws std::invalid_argument unless both have the same sequences.
template <std::size_t left, std::size_t right, class Real>
Matrix<n, left + right, Real> side_by_side(const Matrix<n, left, Real>& F, const Matrix<n, right, Real>& G) {
  require_same_sequences("what is on the left", F.sequences(), "what is on the right", G.sequences());
  Matrix<n, left + right, Real> both{F.sequences()};
  for (std::size_t i = 0; i < both.rows(); ++i) {
    std::copy_n(F.data() + i * left, left, &both(i, 0));
    std::copy_n(G.data() + i * right, right, &both(i, left));
  }
  return both;
}

/// `width` columns of X, the first of which is `first`, from 0. Throws std::out_of_range if X has fewer.
template <std::size_t width, std::size_t cols, class Real>
Matrix<n, width, Real> columns(const Matrix<n, cols, Real>& X, std::size_t first) {
  if (first > cols || width > cols - first)
    refuse<std::out_of_range>({"there are no ", width, " columns from column ", first, " in a matrix with ", cols});
  Matrix<n, width, Real> part{X.sequences()};
  for (std::size_t i = 0; i < X.rows(); ++i) std::copy_n(&X(i, first), width, &part(i, 0));
  return part;
}

}  // namespace tlm
