// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include <tlm/base/refuse.hpp>
#include <tlm/matrix/matrix.hpp>

/// Functions that put the same rows into other stacks.
namespace tlm {

/// X|i: every sequence of X reduced to its first i rows. Throws std::out_of_range if a sequence has fewer than i.
template <std::size_t cols, class Real>
Matrix<n, cols, Real> operator|(const Matrix<n, cols, Real>& X, std::size_t i) {
  for (std::size_t s = 0; s < X.sequences().count(); ++s)
    if (i > X.sequences().length(s))
      refuse<std::out_of_range>({"X|", i, " of a sequence with only ", X.sequences().length(s), " rows"});
  Matrix<n, cols, Real> reduced{Sequences::of_lengths(std::vector<std::size_t>(X.sequences().count(), i))};
  for (std::size_t s = 0; s < X.sequences().count(); ++s)
    std::copy_n(X.data() + X.sequences().begin(s) * cols, i * cols, reduced.data() + s * i * cols);
  return reduced;
}

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

/// Sequences first, …, last − 1 of a stack, one under the other. Throws std::out_of_range unless they are in X.
template <std::size_t cols, class Real>
Matrix<n, cols, Real> sequences_of(const Matrix<n, cols, Real>& X, std::size_t first, std::size_t last) {
  if (first > last || last > X.sequences().count())
    refuse<std::out_of_range>(
        {"sequences from ", first, " to before ", last, " are not all in a stack of ", X.sequences().count()});
  std::vector<std::size_t> lengths;
  for (std::size_t s = first; s < last; ++s) lengths.push_back(X.sequences().length(s));
  Matrix<n, cols, Real> chosen{Sequences::of_lengths(lengths)};
  if (first < last) std::copy_n(X.data() + X.sequences().begin(first) * cols, chosen.rows() * cols, chosen.data());
  return chosen;
}

/// Sequence s of a stack, on its own. Throws std::out_of_range if there is none.
template <std::size_t cols, class Real>
Matrix<n, cols, Real> sequence(const Matrix<n, cols, Real>& X, std::size_t s) {
  return sequences_of(X, s, s + 1);
}

}  // namespace tlm
