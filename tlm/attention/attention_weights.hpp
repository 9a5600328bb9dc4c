// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <tlm/attention/mask.hpp>
#include <tlm/attention/masked_matrix.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/matrix/sequences.hpp>

namespace tlm {

/// The weights A of attention: a matrix for each sequence and each head. Row i tells how much query i looks at each key
/// that it sees.
template <std::size_t n_heads_, class Mask, class Real_, std::size_t block = 32>
class AttentionWeights {
 public:
  using Real = Real_;
  static constexpr std::size_t n_heads = n_heads_;

  /// Uninitialised. Throws std::invalid_argument unless
  ///
  ///   every sequence of queries has its sequence of keys,
  ///   with at least one key if there is a query, and at least as many as queries where the mask looks at positions,
  ///   and the mask shows each query at least one key, and no more than there are.
  AttentionWeights(const Sequences& queries, const Sequences& keys)
      : queries_{queries}, keys_{keys}, begin_{begins(queries, keys)}, entries_{Sequences{begin_.back()}} {}

  /// Which rows belong to which sequence.
  const Sequences& queries() const { return queries_; }
  /// Which columns belong to which sequence.
  const Sequences& keys() const { return keys_; }

  /// A of head h in sequence s.
  detail::MaskedMatrix<Mask, Real, block> operator()(std::size_t s, std::size_t h) {
    return {entries_.data() + begin(s, h), queries_.length(s), keys_.length(s)};
  }
  /// A of head h in sequence s.
  detail::MaskedMatrix<Mask, const Real, block> operator()(std::size_t s, std::size_t h) const {
    return {entries_.data() + begin(s, h), queries_.length(s), keys_.length(s)};
  }

 private:
  std::size_t begin(std::size_t s, std::size_t h) const { return begin_[s] + h * queries_.length(s) * keys_.length(s); }

  static std::vector<std::size_t> begins(const Sequences& queries, const Sequences& keys) {
    if (queries.count() != keys.count())
      refuse<std::invalid_argument>(
          {queries.count(), " sequences of queries cannot look at ", keys.count(), " sequences of keys"});
    std::vector<std::size_t> begin{0};
    for (std::size_t s = 0; s < queries.count(); ++s) {
      require_visible(s, queries.length(s), keys.length(s));
      begin.push_back(begin.back() + n_heads * queries.length(s) * keys.length(s));
    }
    return begin;
  }

  static void require_visible(std::size_t s, std::size_t queries, std::size_t keys) {
    if (queries > 0 && keys == 0)
      refuse<std::invalid_argument>(
          {"sequence ", s + 1, " has ", queries, " queries and no keys: attention needs a row to look at"});
    if (!std::is_same_v<Mask, Unmasked> && queries > keys)
      refuse<std::invalid_argument>({queries, " queries cannot be the last of only ", keys, " positions"});
    for (std::size_t i = 0; i < queries; ++i) {
      const std::size_t position = keys + i - queries, visible = Mask::visible(position, keys);
      if (visible == 0 || visible > keys)
        refuse<std::invalid_argument>({"the mask shows the query at position ", position + 1, " of a sequence ",
                                       visible, " keys, of ", keys, " that there are"});
    }
  }

  Sequences queries_, keys_;
  std::vector<std::size_t> begin_;  // where the entries of each sequence begin, and where those of the last end
  Matrix<n, 1, Real> entries_;
};

}  // namespace tlm
