// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <tlm/matrix/matrix.hpp>
#include <tlm/matrix/product.hpp>
#include <tlm/matrix/sequences.hpp>

namespace tlm::detail {

/// The keys that queries look at, or the values: a stack of sequences that grow, in amortised constant time for a row.
template <class M>
class KVCache {
 public:
  using Real = typename M::Real;
  static constexpr std::size_t cols = M::cols;

  /// Continues each sequence by the corresponding one of X. An empty cache takes X as it is. Throws
  /// std::invalid_argument, and changes nothing, unless X has as many sequences as before.
  void append(const M& X) {
    if (rows_.empty()) rows_.resize(X.sequences().count());
    require_continuation(rows_.size(), X.sequences().count());
    std::vector<std::size_t> lengths;
    for (std::size_t s = 0; s < rows_.size(); ++s) {
      const auto more = view(X, s);
      rows_[s].insert(rows_[s].end(), more.data, more.data + more.rows * cols);
      lengths.push_back(rows_[s].size() / cols);
    }
    sequences_ = Sequences::of_lengths(lengths);
  }

  /// Which rows belong to which sequence.
  const Sequences& sequences() const { return sequences_; }
  /// The rows of sequence s.
  friend View<const Real> view(const KVCache& X, std::size_t s) {
    return {X.rows_[s].data(), X.sequences_.length(s), cols, cols};
  }

 private:
  std::vector<std::vector<Real, AlignedAllocator<Real>>> rows_;  // of each sequence
  Sequences sequences_;
};

}  // namespace tlm::detail
