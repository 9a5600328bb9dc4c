// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <tlm/matrix/matrix.hpp>
#include <tlm/matrix/product.hpp>

namespace tlm {

/// A stack of sequences that grows: X ← continued(X, more), without X being copied. A row is appended in amortised constant
/// time, so that what is computed row by row does not pay for the rows so far.
template <std::size_t cols_, class Real_>
class RowsSoFar {
 public:
  using Real = Real_;
  static constexpr std::size_t cols = cols_;

  /// Each sequence is continued by the corresponding sequence of `more`; no sequences are continued by `more` as it is.
  /// Throws std::invalid_argument if the numbers of sequences differ; the rows then are as they were.
  void append(const Matrix<n, cols, Real>& more) {
    const Sequences& added = more.sequences();
    if (rows_.empty()) rows_.resize(added.count());
    require_continuation(rows_.size(), added.count());
    std::vector<std::size_t> lengths;
    for (std::size_t s = 0; s < rows_.size(); ++s) {
      rows_[s].insert(rows_[s].end(), more.data() + added.begin(s) * cols, more.data() + added.end(s) * cols);
      lengths.push_back(rows_[s].size() / cols);
    }
    sequences_ = lengths.size() == 1 ? Sequences{lengths[0]} : Sequences::of_lengths(lengths);
  }

  /// Which rows belong to which sequence.
  const Sequences& sequences() const { return sequences_; }

  /// The rows of sequence s.
  friend View<const Real> view(const RowsSoFar& X, std::size_t s) {
    return {X.rows_[s].data(), X.sequences_.length(s), cols, cols};
  }

 private:
  std::vector<std::vector<Real, CacheLineAllocator<Real>>> rows_;
  Sequences sequences_;
};

}  // namespace tlm
