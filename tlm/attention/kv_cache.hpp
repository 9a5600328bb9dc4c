// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <tlm/matrix/matrix.hpp>
#include <tlm/matrix/product.hpp>
#include <tlm/matrix/sequences.hpp>

namespace tlm::detail {

/// The keys K and values V that queries look at: stacks of sequences that grow row by row. Appending a row takes amortised
/// constant time.
template <std::size_t n_heads, std::size_t d_key, std::size_t d_value, class Real>
class KVCache {
 public:
  using Keys = Matrix<n, n_heads * d_key, Real>;
  using Values = Matrix<n, n_heads * d_value, Real>;

  /// Without sequences.
  KVCache() = default;
  /// Of these rows. Throws like `append`.
  KVCache(const Keys& K, const Values& V) { append(K, V); }

  /// Continues each sequence by the corresponding one of K and V. An empty cache takes K and V as they are. Throws
  /// std::invalid_argument, and changes nothing, unless K and V have the same sequences, as many as before.
  void append(const Keys& K, const Values& V) {
    require_same_sequences("the keys", K.sequences(), "the values", V.sequences());
    if (rows_.empty()) rows_.resize(K.sequences().count());
    require_continuation(rows_.size(), K.sequences().count());
    std::vector<std::size_t> lengths;
    for (std::size_t s = 0; s < K.sequences().count(); ++s) {
      append(rows_[s].keys, view(K, s));
      append(rows_[s].values, view(V, s));
      lengths.push_back(rows_[s].keys.size() / Keys::cols);
    }
    sequences_ = Sequences::of_lengths(lengths);
  }

  /// Which keys, and values, belong to which sequence.
  const Sequences& sequences() const { return sequences_; }
  /// K_h: the keys of head h in sequence s.
  View<const Real> keys(std::size_t s, std::size_t h) const { return head<d_key>(rows_[s].keys, s, h); }
  /// V_h: the values of head h in sequence s.
  View<const Real> values(std::size_t s, std::size_t h) const { return head<d_value>(rows_[s].values, s, h); }

 private:
  using Entries = std::vector<Real, AlignedAllocator<Real>>;
  struct Rows {
    Entries keys, values;
  };

  static void append(Entries& rows, View<const Real> more) {
    rows.insert(rows.end(), more.data, more.data + more.rows * more.cols);
  }
  template <std::size_t width>
  View<const Real> head(const Entries& rows, std::size_t s, std::size_t h) const {
    return View<const Real>{rows.data(), sequences_.length(s), n_heads * width, n_heads * width}.block(
        0, sequences_.length(s), h * width, width);
  }

  std::vector<Rows> rows_;  // of each sequence
  Sequences sequences_;
};

}  // namespace tlm::detail
