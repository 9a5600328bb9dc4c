// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <tlm/attention/mask.hpp>
#include <tlm/matrix/function_ref.hpp>
#include <tlm/matrix/helpers.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/matrix/product.hpp>
#include <tlm/matrix/rows_so_far.hpp>

/// What a kernel returns: matrices of which only a part is visible, and their products.
///
/// What a query does not see is not there: it is neither read nor multiplied by zero, so that even NaN cannot pass. Whole
/// rectangles of visible entries go to BLAS; the ragged edge is done entry by entry.
namespace tlm {

namespace detail {

/// Where the entries of each sequence of KernelMatrices begin, and where those of the last end. Throws what their constructor
/// does.
inline std::vector<std::size_t> first_entries(const Sequences& queries, const Sequences& keys, std::size_t n_heads,
                                              bool looks_at_positions,
                                              std::size_t (*visible)(std::size_t, std::size_t)) {
  if (queries.count() != keys.count())
    throw std::invalid_argument(std::to_string(queries.count()) + " sequences of queries cannot look at " +
                                std::to_string(keys.count()) + " sequences of keys");
  std::vector<std::size_t> first;
  first.reserve(queries.count() + 1);
  first.push_back(0);
  for (std::size_t s = 0; s < queries.count(); ++s) {
    const std::size_t height = queries.length(s), width = keys.length(s);
    if (height > 0 && width == 0)
      throw std::invalid_argument("sequence " + std::to_string(s + 1) + " has " + std::to_string(height) +
                                  " queries and no keys: attention needs a row to look at");
    if (looks_at_positions && height > width)
      throw std::invalid_argument(std::to_string(height) + " queries cannot be the last of only " +
                                  std::to_string(width) + " positions");
    for (std::size_t i = 0; i < height; ++i) {
      const std::size_t position = width + i - height, shown = visible(position, width);
      if (shown == 0 || shown > width)
        throw std::invalid_argument("the mask shows the query at position " + std::to_string(position + 1) +
                                    " of a sequence " + std::to_string(shown) + " keys, of " + std::to_string(width) +
                                    " that there are");
    }
    first.push_back(first.back() + n_heads * height * width);
  }
  return first;
}

}  // namespace detail

/// One matrix A for each sequence and each of n_heads heads: queries × keys, of which `Mask` says what is visible.
///
/// The queries of a sequence are the last of its positions, where the mask looks at positions: with as many queries as
/// keys A is square, with fewer it is the last rows of the square one. Copies share their entries. What is visible ends
/// in edges of up to `block` rows.
template <std::size_t n_heads_, class Mask_, class Real_, std::size_t block_ = 32>
class KernelMatrices {
 public:
  using Real = Real_;
  using Mask = Mask_;
  static constexpr std::size_t n_heads = n_heads_;
  static constexpr std::size_t block = block_;
  static_assert(block > 0, "a block has at least one row");

  /// Uninitialised. Throws std::invalid_argument unless every sequence of queries has its sequence of keys, which has a
  /// key at least if there is a query, and is as long at least where the mask looks at positions; and for a mask that shows
  /// a query none or more keys than there are.
  KernelMatrices(const Sequences& queries, const Sequences& keys)
      : queries_{queries},
        keys_{keys},
        first_{detail::first_entries(queries, keys, n_heads, !std::is_same_v<Mask, Unmasked>, Mask::visible)},
        entries_{std::make_shared<xt::uvector<Real, CacheLineAllocator<Real>>>(first_.back())} {}

  /// Of the same shape, uninitialised.
  KernelMatrices like() const { return {queries_, keys_}; }

  /// Which rows belong to which sequence.
  const Sequences& queries() const { return queries_; }
  /// Which columns belong to which sequence.
  const Sequences& keys() const { return keys_; }

  /// A of sequence s and head h. Only the visible part of a row is defined.
  View<Real> operator()(std::size_t s, std::size_t h) const {
    const std::size_t height = queries_.length(s), width = keys_.length(s);
    return {entries_->data() + first_[s] + h * height * width, height, width, width};
  }

  /// The position of query i of sequence s among the keys, from 0, where the mask looks at positions.
  std::size_t position(std::size_t s, std::size_t i) const { return keys_.length(s) + i - queries_.length(s); }

  /// How many entries of row i of sequence s are visible: the first so many.
  std::size_t visible(std::size_t s, std::size_t i) const { return Mask::visible(position(s, i), keys_.length(s)); }

  /// action(s, h, i) for row i of every sequence s and head h.
  void for_each_row(FunctionRef<void(std::size_t s, std::size_t h, std::size_t i)> action) const {
    for (std::size_t s = 0; s < queries_.count(); ++s)
      for (std::size_t h = 0; h < n_heads; ++h)
        for (std::size_t i = 0; i < queries_.length(s); ++i) action(s, h, i);
  }

  /// The same, heads at once if this thread has helpers: action(s, h, i) changes nothing that is not of head h alone.
  void for_each_row_at_once(FunctionRef<void(std::size_t s, std::size_t h, std::size_t i)> action) const {
    heads_at_once([&](std::size_t s, std::size_t h) {
      for (std::size_t i = 0; i < queries_.length(s); ++i) action(s, h, i);
    });
  }

  /// Some rows of A of sequence s and head h, and some columns.
  struct Part {
    std::size_t s, h, top, height, left, width;
  };

  /// The entries of a part.
  View<Real> operator()(const Part& part) const {
    return (*this)(part.s, part.h).block(part.top, part.height, part.left, part.width);
  }

  /// Everything that is visible, once: in parts of which all is visible, whole(part), and in parts of up to `block` rows, of
  /// each of which the columns before visible(s, i) are, if there are any, edge(part). Heads at once if this thread has helpers:
  /// neither changes what is not of its head alone.
  ///
  /// A triangle is a square and two triangles: so of what a causal mask shows most is in large rectangles.
  void for_each_part(FunctionRef<void(const Part&)> whole, FunctionRef<void(const Part&)> edge) const {
    heads_at_once([&](std::size_t s, std::size_t h) {
      if (queries_.length(s) > 0) divide({s, h, 0, queries_.length(s), 0, keys_.length(s)}, whole, edge);
    });
  }

 private:
  /// action(s, h) for every sequence s and head h, heads at once if this thread has helpers. What is done with an entry takes as
  /// long as some tens of multiplications: a product of vectors as wide as a head, or an exponential.
  void heads_at_once(FunctionRef<void(std::size_t s, std::size_t h)> action) const {
    constexpr std::size_t for_an_entry = 50;
    in_shares(n_heads, for_an_entry * (entries_->size() / n_heads), [&](std::size_t first, std::size_t last) {
      for (std::size_t s = 0; s < queries_.count(); ++s)
        for (std::size_t h = first; h < last; ++h) action(s, h);
    });
  }

  /// What is visible of a part to the left of which all is.
  void divide(Part part, FunctionRef<void(const Part&)> whole, FunctionRef<void(const Part&)> edge) const {
    std::size_t least = visible(part.s, part.top), most = least;
    for (std::size_t i = part.top + 1; i < part.top + part.height; ++i) {
      least = std::min(least, visible(part.s, i));
      most = std::max(most, visible(part.s, i));
    }
    const std::size_t shared = least == most ? least : least / block * block;
    part.width = shared - part.left;
    if (part.width > 0) whole(part);
    if (shared == most) return;
    part.left = shared;
    part.width = most - shared;
    if (part.height <= block) return edge(part);
    Part below = part;
    part.height = (part.height / 2 + block - 1) / block * block;
    below.top += part.height;
    below.height -= part.height;
    divide(part, whole, edge);
    divide(below, whole, edge);
  }

  Sequences queries_, keys_;
  std::vector<std::size_t> first_;
  std::shared_ptr<xt::uvector<Real, CacheLineAllocator<Real>>> entries_;
};

/// The condition under which the vectorwords split into heads. A failure shows both numbers.
template <std::size_t d_model, std::size_t n_heads>
struct CanSplit {
  static constexpr bool value = true;  // If not, the next line says so: once.
  static_assert(n_heads > 0 && d_model % n_heads == 0,
                "n_heads divides d_model: every head has d_head = d_model / n_heads columns");
};

/// The width of a head, if CanSplit.
template <std::size_t d_model, std::size_t n_heads>
inline constexpr std::size_t head_width = n_heads > 0 ? d_model / n_heads : d_model;

/// The columns of head h in the rows of sequence s: heads are contiguous blocks of columns.
template <std::size_t n_heads, class M>
requires requires(M& X) { view(X, 0); }
auto head(M& X, std::size_t s, std::size_t h) {
  static_assert(CanSplit<M::cols, n_heads>::value);
  constexpr std::size_t d_head = head_width<M::cols, n_heads>;
  const auto rows = view(X, s);
  return rows.block(0, rows.rows, h * d_head, d_head);
}

/// The same of the rows so far.
template <std::size_t n_heads, std::size_t cols, class Real>
View<const Real> head(const RowsSoFar<cols, n_heads, Real>& X, std::size_t s, std::size_t h) {
  return X.block(s, h);
}

/// A stack of sequences of rows of so many such numbers, for so many heads: a Matrix<n, cols, Real>, or
/// RowsSoFar<cols, n_heads, Real>.
template <class M, std::size_t n_heads, std::size_t cols, class Real>
concept RowsForHeads = M::cols == cols&& requires(const M& X) {
  X.sequences();
  { head<n_heads>(X, 0, 0) } -> std::same_as<View<const Real>>;
};

/// A = factor·Q×Kᵀ in each head, as far as it is visible.
template <class A, std::size_t cols, class Real, RowsForHeads<A::n_heads, cols, Real> Keys>
A visible_product(const Matrix<n, cols, Real>& Q, const Keys& K, std::type_identity_t<Real> factor = Real(1)) {
  constexpr std::size_t d_head = cols / A::n_heads;
  A result{Q.sequences(), K.sequences()};
  // An entry depends on its own row and column alone; those of an edge that are not visible are never read.
  const auto multiplied = [&](const typename A::Part& part) {
    const auto queries = head<A::n_heads>(Q, part.s, part.h).block(part.top, part.height, 0, d_head);
    const auto keys = head<A::n_heads>(K, part.s, part.h).block(part.left, part.width, 0, d_head);
    multiply(queries, keys.transposed(), result(part), Present::overwritten, factor);
  };
  result.for_each_part(multiplied, multiplied);
  return result;
}

/// To += A×From, or To += Aᵀ×From, in each head: the one traversal of what is visible.
template <bool transposed, class A, std::size_t cols, class Real, RowsForHeads<A::n_heads, cols, Real> Rows>
void accumulate_visible(const A& matrices, const Rows& From, Matrix<n, cols, Real>& To) {
  constexpr std::size_t d_head = cols / A::n_heads;
  using Part = typename A::Part;
  const auto whole = [&](const Part& part) {
    const auto from = head<A::n_heads>(From, part.s, part.h);
    const auto to = head<A::n_heads>(To, part.s, part.h);
    if constexpr (transposed)
      multiply(matrices(part).transposed(), from.block(part.top, part.height, 0, d_head),
               to.block(part.left, part.width, 0, d_head), Present::added_to);
    else
      multiply(matrices(part), from.block(part.left, part.width, 0, d_head), to.block(part.top, part.height, 0, d_head),
               Present::added_to);
  };
  const auto edge = [&](const Part& part) {
    const auto A_sh = matrices(part.s, part.h);
    const auto from = head<A::n_heads>(From, part.s, part.h);
    const auto to = head<A::n_heads>(To, part.s, part.h);
    for (std::size_t i = part.top; i < part.top + part.height; ++i)
      for (std::size_t j = part.left; j < matrices.visible(part.s, i); ++j)
        for (std::size_t k = 0; k < d_head; ++k)
          if constexpr (transposed)
            to(j, k) += A_sh(i, j) * from(i, k);
          else
            to(i, k) += A_sh(i, j) * from(j, k);
  };
  matrices.for_each_part(whole, edge);
}

/// Y = A×V in each head. Throws std::invalid_argument unless V has a row for every key.
template <std::size_t n_heads, class Mask, class Real, std::size_t block, class Values>
Matrix<n, Values::cols, Real> operator*(const KernelMatrices<n_heads, Mask, Real, block>& A,
                                        const Values& V) requires RowsForHeads<Values, n_heads, Values::cols, Real> {
  require_same_sequences("the keys", A.keys(), "the values", V.sequences());
  Matrix<n, Values::cols, Real> Y{A.queries(), Real(0)};
  accumulate_visible<false>(A, V, Y);
  return Y;
}

/// V = Aᵀ×Y in each head. Throws std::invalid_argument unless Y has a row for every query.
template <std::size_t n_heads, class Mask, class Real, std::size_t block, std::size_t cols>
Matrix<n, cols, Real> transposed_product(const KernelMatrices<n_heads, Mask, Real, block>& A,
                                         const Matrix<n, cols, Real>& Y) {
  require_same_sequences("the queries", A.queries(), "what they are multiplied by", Y.sequences());
  Matrix<n, cols, Real> V{A.keys(), Real(0)};
  accumulate_visible<true>(A, Y, V);
  return V;
}

}  // namespace tlm
