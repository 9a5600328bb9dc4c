// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <tlm/matrix/matrix.hpp>
#include <tlm/matrix/product.hpp>
#include <tlm/matrix/sequences.hpp>

namespace tlm::detail {

/// The keys K and values V that queries look at: stacks of sequences that grow row by row, split into heads.
///
/// Appending a row takes amortised constant time. The rows of a head are stored one after the other: K_i and V_i of
/// sequence s are views.
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
    if (heads_.empty()) heads_.resize(K.sequences().count() * n_heads);
    require_continuation(heads_.size() / n_heads, K.sequences().count());
    std::vector<std::size_t> lengths;
    for (std::size_t s = 0; s < K.sequences().count(); ++s) {
      for (std::size_t h = 0; h < n_heads; ++h) {
        append(heads_[s * n_heads + h].keys, view(K, s), h, d_key);
        append(heads_[s * n_heads + h].values, view(V, s), h, d_value);
      }
      lengths.push_back(heads_[s * n_heads].keys.size() / d_key);
    }
    sequences_ = Sequences::of_lengths(lengths);
  }

  /// Which keys, and values, belong to which sequence.
  const Sequences& sequences() const { return sequences_; }
  /// K_i: the keys of head h in sequence s.
  View<const Real> keys(std::size_t s, std::size_t h) const {
    return {heads_[s * n_heads + h].keys.data(), sequences_.length(s), d_key, d_key};
  }
  /// V_i: the values of head h in sequence s.
  View<const Real> values(std::size_t s, std::size_t h) const {
    return {heads_[s * n_heads + h].values.data(), sequences_.length(s), d_value, d_value};
  }

 private:
  using Rows = std::vector<Real, AlignedAllocator<Real>>;
  struct Head {
    Rows keys, values;
  };

  static void append(Rows& rows, View<const Real> more, std::size_t h, std::size_t width) {
    std::size_t end = rows.size();
    rows.resize(end + more.rows * width);
    for (std::size_t i = 0; i < more.rows; ++i, end += width) std::copy_n(&more(i, h * width), width, &rows[end]);
  }

  std::vector<Head> heads_;  // of head h in sequence s: heads_[s * n_heads + h]
  Sequences sequences_;
};

}  // namespace tlm::detail
