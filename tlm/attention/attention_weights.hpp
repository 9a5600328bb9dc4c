// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <tlm/attention/mask_and_bias.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/matrix/product.hpp>
#include <tlm/matrix/sequences.hpp>
#include <tlm/numbers/vector.hpp>

/// A matrix of attention, part of which is visible, and its products. No visible entry is made of a hidden one, and
/// no hidden one is multiplied by zero. So even NaN cannot pass.
namespace tlm {

namespace detail {

/// S = Q×Kᵀ/√d_head + b or A = softmax(S) of one head in one sequence: queries × keys. `Mask` decides what is visible.
/// The object refers to its entries.
///
/// If the mask looks at positions, the last query is at the last position. As many queries as keys make a square, and fewer
/// are its last rows. The visible part of row i is its first visible(i) entries. The others mean nothing.
template <class Mask, class Entry, std::size_t block>
struct MaskedMatrix : View<Entry> {
  static_assert(block > 0, "a block has at least one row");

  /// With these entries, row by row.
  MaskedMatrix(Entry* entries, std::size_t queries, std::size_t keys) : View<Entry>{entries, queries, keys, keys} {}

  /// The position of query i in its sequence, from 0, if the mask looks at positions.
  std::size_t position(std::size_t i) const { return this->cols + i - this->rows; }
  /// How many entries of row i are visible.
  std::size_t visible(std::size_t i) const { return Mask::visible(position(i), this->cols); }
  /// The visible part of row i.
  auto row(std::size_t i) const { return as_vector(&(*this)(i, 0), visible(i)); }

  /// Some of the rows, and some of the columns.
  struct Part {
    std::size_t top, height, left, width;
  };

  /// Visits all that is visible once. All of a `whole` part is visible. An `edge` has up to `block` rows, and in row i
  /// the columns before visible(i) are visible.
  ///
  /// A triangle is divided into a rectangle and two triangles, and so on.
  void for_each_part(const auto& whole, const auto& edge) const {
    if (this->rows > 0) divide(0, this->rows, 0, whole, edge);
  }

 private:
  /// In these rows the first `left` columns are visible, and were visited.
  void divide(std::size_t top, std::size_t height, std::size_t left, const auto& whole, const auto& edge) const {
    std::size_t least = visible(top), most = least;
    for (std::size_t i = top + 1; i < top + height; ++i) {
      least = std::min(least, visible(i));
      most = std::max(most, visible(i));
    }
    const std::size_t shared = least == most ? least : least / block * block;
    if (left < shared) whole(Part{top, height, left, shared - left});
    if (shared == most) return;
    if (height <= block) return edge(Part{top, height, shared, most - shared});
    const std::size_t upper = (height / 2 + block - 1) / block * block;
    divide(top, upper, shared, whole, edge);
    divide(top + upper, height - upper, shared, whole, edge);
  }
};

/// S += factor·A×B, as far as S is visible. (Hidden entries of an edge are computed, too.)
template <class Mask, class Real, std::size_t block>
void multiply(View<const std::type_identity_t<Real>> A, View<const std::type_identity_t<Real>> B,
              const MaskedMatrix<Mask, Real, block>& S, std::type_identity_t<Real> factor) {
  const auto part_of_S = [&](const auto& part) {
    multiply(A.block(part.top, part.height, 0, A.cols), B.block(0, B.rows, part.left, part.width),
             S.block(part.top, part.height, part.left, part.width), factor);
  };
  S.for_each_part(part_of_S, part_of_S);
}

/// Y += factor·A×V over what is visible: Y_i += factor·Σ_j a_ij·V_j. Or, if `back`, Y += factor·Aᵀ×V: Y_j +=
/// factor·Σ_i a_ij·V_i. Y and V are `width` columns wide.
template <std::size_t width, bool back = false, class Mask, class Entry, std::size_t block, class Real>
void accumulate(View<Real> Y, const MaskedMatrix<Mask, Entry, block>& A, View<const std::type_identity_t<Real>> V,
                std::type_identity_t<Real> factor = Real(1)) {
  A.for_each_part(
      [&](const auto& part) {
        const auto a = A.block(part.top, part.height, part.left, part.width);
        const auto rows_of_A = [&](const auto& X) { return X.block(part.top, part.height, 0, width); };
        const auto columns_of_A = [&](const auto& X) { return X.block(part.left, part.width, 0, width); };
        multiply(back ? a.transposed() : a, back ? rows_of_A(V) : columns_of_A(V),
                 back ? columns_of_A(Y) : rows_of_A(Y), factor);
      },
      [&](const auto& part) {
        for (std::size_t i = part.top; i < part.top + part.height; ++i)
          for (std::size_t j = part.left; j < std::min(part.left + part.width, A.visible(i)); ++j) {
            auto y = as_vector<width>(&Y(back ? j : i, 0));
            y += factor * A(i, j) * as_vector<width>(&V(back ? i : j, 0));
          }
      });
}

}  // namespace detail

/// The weights A = softmax(S) of attention: a matrix for each sequence and each head. Row i tells how much query i looks
/// at each key that it sees.
template <std::size_t n_heads_, class Mask, class Real_, std::size_t block>
class AttentionWeights {
 public:
  using Real = Real_;
  static constexpr std::size_t n_heads = n_heads_;

  /// Zero everywhere. Throws std::invalid_argument unless
  ///
  ///   every sequence of queries has its sequence of keys,
  ///   with at least one key if there is a query, and at least as many as queries unless the mask is Unmasked,
  ///   and the mask shows each query at least one key, and no more than there are.
  ///
  /// Throws std::length_error for more than 2³¹ − 1 weights of a sequence, of all heads together.
  AttentionWeights(const Sequences& queries, const Sequences& keys) : queries_{queries}, keys_{keys} {
    if (queries.count() != keys.count())
      refuse<std::invalid_argument>(
          {queries.count(), " sequences of queries cannot look at ", keys.count(), " sequences of keys"});
    for (std::size_t s = 0; s < queries.count(); ++s) {
      const std::size_t rows = queries.length(s), cols = keys.length(s);
      const double all = double(n_heads) * double(rows) * double(cols);
      if (all > double(std::numeric_limits<int>::max()))
        refuse<std::length_error>({all, " weights of attention are too many"});
      if (rows > 0 && cols == 0)
        refuse<std::invalid_argument>(
            {"sequence ", s + 1, " has ", rows, " queries and no keys: attention needs a row to look at"});
      if (!std::is_same_v<Mask, Unmasked> && rows > cols)
        refuse<std::invalid_argument>({rows, " queries cannot be the last of only ", cols, " positions"});
      const detail::MaskedMatrix<Mask, Real, block> A{nullptr, rows, cols};
      for (std::size_t i = 0; i < rows; ++i)
        if (A.visible(i) == 0 || A.visible(i) > cols)
          refuse<std::invalid_argument>({"the mask shows the query at position ", A.position(i) + 1, " of a sequence ",
                                         A.visible(i), " keys, of ", cols, " that there are"});
      entries_.emplace_back(Sequences{std::size_t(all)});
    }
  }

  /// Which rows belong to which sequence.
  const Sequences& queries() const { return queries_; }
  /// Which columns belong to which sequence.
  const Sequences& keys() const { return keys_; }

  /// A of head h in sequence s.
  detail::MaskedMatrix<Mask, Real, block> operator()(std::size_t s, std::size_t h) {
    return {entries_[s].data() + h * queries_.length(s) * keys_.length(s), queries_.length(s), keys_.length(s)};
  }
  /// A of head h in sequence s.
  detail::MaskedMatrix<Mask, const Real, block> operator()(std::size_t s, std::size_t h) const {
    return {entries_[s].data() + h * queries_.length(s) * keys_.length(s), queries_.length(s), keys_.length(s)};
  }

 private:
  Sequences queries_, keys_;
  std::vector<Matrix<n, 1, Real>> entries_;  // of each sequence, head after head
};

}  // namespace tlm
