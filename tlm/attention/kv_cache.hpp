// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <tlm/matrix/matrix.hpp>
#include <tlm/matrix/product.hpp>

namespace tlm {

/// A stack of sequences that grows: X ← continued(X, more), without X being copied. A row is appended in amortised constant
/// time, so that what is computed row by row does not pay for the rows so far.
///
/// Each of `blocks` blocks of columns lies by itself, as a head reads it: from memory that is up to three times as fast as
/// to skip the columns of the other heads.
template <std::size_t cols_, std::size_t blocks_, class Real_>
class KVCache {
  static_assert(blocks_ > 0 && cols_ % blocks_ == 0, "the blocks of columns that are remembered have the same width");
  static constexpr std::size_t blocks = blocks_, width = cols_ / blocks_;

 public:
  using Real = Real_;
  static constexpr std::size_t cols = cols_;

  /// Each sequence is continued by the corresponding sequence of `more`; no sequences are continued by `more` as it is.
  /// Throws std::invalid_argument if the numbers of sequences differ; the rows then are as they were.
  void append(const Matrix<n, cols, Real>& more) {
    const Sequences& added = more.sequences();
    if (rows_.empty()) rows_ = Blocks(added.count() * blocks);
    require_continuation(rows_.size() / blocks, added.count());
    std::vector<std::size_t> lengths(added.count());
    for (std::size_t s = 0; s < added.count(); ++s) {
      for (std::size_t b = 0; b < blocks; ++b) {
        auto& rows = rows_[s * blocks + b];
        for (std::size_t i = added.begin(s); i < added.end(s); ++i) {
          rows.resize(rows.size() + width);
          std::copy_n(&more(i, b * width), width, &rows[rows.size() - width]);
        }
      }
      lengths[s] = rows_[s * blocks].size() / width;
    }
    sequences_ = lengths.size() == 1 ? Sequences{lengths[0]} : Sequences::of_lengths(lengths);
  }

  /// Which rows belong to which sequence.
  const Sequences& sequences() const { return sequences_; }

  /// Block b of the columns of the rows of sequence s.
  View<const Real> block(std::size_t s, std::size_t b) const {
    return {rows_[s * blocks + b].data(), sequences_.length(s), width, width};
  }

 private:
  using Blocks = std::vector<std::vector<Real, CacheLineAllocator<Real>>>;

  Blocks rows_;  // of block b of sequence s: rows_[s * blocks + b]
  Sequences sequences_;
};

}  // namespace tlm
