// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <tlm/matrix/matrix.hpp>

/// What a model learns from: a batch of sequences with loss weights.
namespace tlm {

/// A batch of input sequences (x_j1, …, x_jn), one under the other and of any lengths. Every token has a loss weight
/// ω_ji from [0, 1]. The start token begins every sequence, and is not among its x. (Article, "Batch evaluation with
/// loss weights", where 0 starts.) x and ω are written alike, sequence by sequence: Batch<>{0, {{1, 2}, {5}}, {{1,
/// 0.5}, {1}}}. If the ω are in one row, they are Matrix<n, 1>{x.sequences(), {1, 0.5, 1}}.
template <class Real = float>
struct Batch {
  using Input = Tokens;  ///< What a model reads.

  Token start;
  Tokens x;
  Matrix<n, 1, Real> omega;

  /// How many sequences there are.
  std::size_t sequence_count() const { return x.sequences().count(); }
  /// How many tokens a model reads.
  std::size_t token_count() const { return x.rows(); }
  /// Throws std::invalid_argument unless each token has a weight.
  void require_weights() const {
    require_same_sequences("the tokens", x.sequences(), "the loss weights", omega.sequences());
  }
};

/// Sequences whose tokens all have the weight 1.
template <class Real = float>
Batch<Real> unweighted(Token start, Tokens x) {
  Matrix<n, 1, Real> ones{x.sequences(), Real(1)};
  return {start, std::move(x), std::move(ones)};
}

}  // namespace tlm
