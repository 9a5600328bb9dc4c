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

/// The matrix of one head and one sequence: queries × keys, of which `Mask` says what is visible. It refers to its entries.
///
/// The queries are the last of the positions, where the mask looks at positions: with as many queries as keys the matrix is
/// square, with fewer it is the last rows of the square one. Only the visible part of a row is defined. What is visible ends in
/// edges of up to `block` rows.
template <class Mask, class Real, std::size_t block>
class HeadMatrix : public View<Real> {
  static_assert(block > 0, "a block has at least one row");

 public:
  /// With these entries, row by row.
  HeadMatrix(Real* entries, std::size_t queries, std::size_t keys) : View<Real>{entries, queries, keys, keys} {}

  /// The position of query i among the keys, from 0, where the mask looks at positions.
  std::size_t position(std::size_t i) const { return this->cols + i - this->rows; }

  /// How many entries of row i are visible: the first so many.
  std::size_t visible(std::size_t i) const { return Mask::visible(position(i), this->cols); }

  /// Some of the rows, and some of the columns.
  struct Part {
    std::size_t top, height, left, width;
  };

  /// Everything that is visible, once: in parts of which all is visible, whole(part), and in parts of up to `block` rows, of
  /// each of which the columns before visible(i) are, if there are any, edge(part).
  ///
  /// A triangle is a square and two triangles: so of what a causal mask shows most is in large rectangles.
  void for_each_part(FunctionRef<void(const Part&)> whole, FunctionRef<void(const Part&)> edge) const {
    if (this->rows > 0) divide({0, this->rows, 0, this->cols}, whole, edge);
  }

 private:
  /// What is visible of a part to the left of which all is.
  void divide(Part part, FunctionRef<void(const Part&)> whole, FunctionRef<void(const Part&)> edge) const {
    std::size_t least = visible(part.top), most = least;
    for (std::size_t i = part.top + 1; i < part.top + part.height; ++i) {
      least = std::min(least, visible(i));
      most = std::max(most, visible(i));
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
};

/// A HeadMatrix with entries of its own, uninitialised.
template <class Mask, class Real, std::size_t block>
class OwnHeadMatrix {
 public:
  /// For so many queries and keys.
  OwnHeadMatrix(std::size_t queries, std::size_t keys)
      : entries_(queries * keys), matrix{entries_.data(), queries, keys} {}

 private:
  xt::uvector<Real, CacheLineAllocator<Real>> entries_;

 public:
  HeadMatrix<Mask, Real, block> matrix;
};

/// A HeadMatrix A for each sequence and each of n_heads heads. Copies share their entries.
template <std::size_t n_heads_, class Mask_, class Real_, std::size_t block_ = 32>
class KernelMatrices {
 public:
  using Real = Real_;
  using Mask = Mask_;
  static constexpr std::size_t n_heads = n_heads_;
  static constexpr std::size_t block = block_;

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

  /// A of sequence s and head h.
  HeadMatrix<Mask, Real, block> operator()(std::size_t s, std::size_t h) const {
    const std::size_t height = queries_.length(s), width = keys_.length(s);
    return {entries_->data() + first_[s] + h * height * width, height, width};
  }

  /// The same, with entries of its own.
  OwnHeadMatrix<Mask, Real, block> own(std::size_t s, std::size_t h) const {
    OwnHeadMatrix<Mask, Real, block> copy{queries_.length(s), keys_.length(s)};
    for (std::size_t i = 0; i < copy.matrix.rows; ++i)
      std::copy_n(&(*this)(s, h)(i, 0), copy.matrix.visible(i), &copy.matrix(i, 0));
    return copy;
  }

  /// action(s, h) for every sequence s and head h.
  void for_each_head(FunctionRef<void(std::size_t s, std::size_t h)> action) const { for_heads(0, n_heads, action); }

  /// The same, heads at once if this thread has helpers: action(s, h) changes nothing that is not of head h alone. What is done
  /// with an entry takes as long as some tens of multiplications: a product of vectors as wide as a head, or an exponential.
  void for_each_head_at_once(FunctionRef<void(std::size_t s, std::size_t h)> action) const {
    constexpr std::size_t for_an_entry = 50;
    in_shares(n_heads, for_an_entry * (entries_->size() / n_heads),
              [&](std::size_t first, std::size_t last) { for_heads(first, last, action); });
  }

 private:
  void for_heads(std::size_t first, std::size_t last, FunctionRef<void(std::size_t s, std::size_t h)> action) const {
    for (std::size_t s = 0; s < queries_.count(); ++s)
      for (std::size_t h = first; h < last; ++h) action(s, h);
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

/// factor·Q×Kᵀ in each head, as far as it is visible: computed head by head as it is asked for, so that nobody waits for the
/// memory of those before. As an A it is all of it. It refers to Q and K.
template <class A, class Queries, class Keys>
class VisibleProduct {
 public:
  using Real = typename A::Real;

  /// See visible_product.
  VisibleProduct(const Queries& Q, const Keys& K, Real factor) : Q_{Q}, K_{K}, factor_{factor} {}

  /// Which rows belong to which sequence.
  const Sequences& queries() const { return Q_.sequences(); }
  /// Which columns belong to which sequence.
  const Sequences& keys() const { return K_.sequences(); }

  /// Computes that of head h of sequence s.
  void compute(std::size_t s, std::size_t h, const HeadMatrix<typename A::Mask, Real, A::block>& to) const {
    const View<const Real> Q = head<A::n_heads>(Q_, s, h), K = head<A::n_heads>(K_, s, h);
    // An entry depends on its own row and column alone; those of an edge that are not visible are never read.
    const auto multiplied = [&](const auto& part) {
      multiply(Q.block(part.top, part.height, 0, Q.cols), K.block(part.left, part.width, 0, K.cols).transposed(),
               to.block(part.top, part.height, part.left, part.width), Present::overwritten, factor_);
    };
    to.for_each_part(multiplied, multiplied);
  }

  /// That of head h of sequence s.
  OwnHeadMatrix<typename A::Mask, Real, A::block> own(std::size_t s, std::size_t h) const {
    OwnHeadMatrix<typename A::Mask, Real, A::block> product{queries().length(s), keys().length(s)};
    compute(s, h, product.matrix);
    return product;
  }

  /// That of all heads.
  operator A() const {
    A product{queries(), keys()};
    product.for_each_head_at_once([&](std::size_t s, std::size_t h) { compute(s, h, product(s, h)); });
    return product;
  }

 private:
  const Queries& Q_;
  const Keys& K_;
  Real factor_;
};

/// factor·Q×Kᵀ in each head, as far as an A shows it. It refers to Q and K, so it is to be used where it is written.
template <class A, std::size_t cols, class Real, RowsForHeads<A::n_heads, cols, Real> Keys>
VisibleProduct<A, Matrix<n, cols, Real>, Keys> visible_product(const Matrix<n, cols, Real>& Q, const Keys& K,
                                                               std::type_identity_t<Real> factor = Real(1)) {
  return {Q, K, factor};
}

/// x += Σ a·y, of vectors of so many numbers, four y at a time: x would be stored and read anew for each of them.
template <std::size_t count, class Real>
class LinearCombination {
 public:
  explicit LinearCombination(Real* x) : x_{x} {}
  LinearCombination(LinearCombination&&) = delete;
  /// x is the sum only from here on.
  ~LinearCombination() {
    for (std::size_t t = 0; t < waiting_; ++t)
      for (std::size_t k = 0; k < count; ++k) x_[k] += a_[t] * y_[t][k];
  }

  /// Adds a·y.
  void add(const Real& a, const Real* y) {
    a_[waiting_] = a;
    y_[waiting_] = y;
    if (++waiting_ < 4) return;
    waiting_ = 0;
    Real* const x = x_;
    const Real a_0 = a_[0], a_1 = a_[1], a_2 = a_[2], a_3 = a_[3];
    const Real *const y_0 = y_[0], *const y_1 = y_[1], *const y_2 = y_[2], *const y_3 = y_[3];
#pragma omp simd
    for (std::size_t k = 0; k < count; ++k) x[k] += a_0 * y_0[k] + a_1 * y_1[k] + a_2 * y_2[k] + a_3 * y_3[k];
  }

 private:
  Real* x_;
  std::size_t waiting_ = 0;
  Real a_[4]{};
  const Real* y_[4]{};
};

/// to += factor·A×from, or to += factor·Aᵀ×from, in one head of width d_head: the one traversal of what is
/// visible.
template <bool transposed, std::size_t d_head, class Mask, class Real, std::size_t block>
void accumulate_visible(const HeadMatrix<Mask, Real, block>& A, View<const std::type_identity_t<Real>> from,
                        View<std::type_identity_t<Real>> to, std::type_identity_t<Real> factor = Real(1)) {
  using Part = typename HeadMatrix<Mask, Real, block>::Part;
  const auto whole = [&](const Part& part) {
    const View<const Real> a = A.block(part.top, part.height, part.left, part.width);
    if constexpr (transposed)
      multiply(a.transposed(), from.block(part.top, part.height, 0, d_head), to.block(part.left, part.width, 0, d_head),
               Present::added_to, factor);
    else
      multiply(a, from.block(part.left, part.width, 0, d_head), to.block(part.top, part.height, 0, d_head),
               Present::added_to, factor);
  };
  const auto edge = [&](const Part& part) {
    const std::size_t bottom = part.top + part.height, right = part.left + part.width;
    if constexpr (transposed)
      for (std::size_t j = part.left; j < right; ++j) {
        LinearCombination<d_head, Real> sum{&to(j, 0)};
        for (std::size_t i = part.top; i < bottom; ++i)
          if (j < A.visible(i)) sum.add(factor * A(i, j), &from(i, 0));
      }
    else
      for (std::size_t i = part.top; i < bottom; ++i) {
        LinearCombination<d_head, Real> sum{&to(i, 0)};
        for (std::size_t j = part.left; j < A.visible(i); ++j) sum.add(factor * A(i, j), &from(j, 0));
      }
  };
  A.for_each_part(whole, edge);
}

/// Y = A×V in each head. Throws std::invalid_argument unless V has a row for every key.
template <std::size_t n_heads, class Mask, class Real, std::size_t block, class Values>
Matrix<n, Values::cols, Real> operator*(const KernelMatrices<n_heads, Mask, Real, block>& A,
                                        const Values& V) requires RowsForHeads<Values, n_heads, Values::cols, Real> {
  require_same_sequences("the keys", A.keys(), "the values", V.sequences());
  Matrix<n, Values::cols, Real> Y{A.queries(), Real(0)};
  A.for_each_head_at_once([&](std::size_t s, std::size_t h) {
    accumulate_visible<false, Values::cols / n_heads>(A(s, h), head<n_heads>(V, s, h), head<n_heads>(Y, s, h));
  });
  return Y;
}

/// V = Aᵀ×Y in each head. Throws std::invalid_argument unless Y has a row for every query.
template <std::size_t n_heads, class Mask, class Real, std::size_t block, std::size_t cols>
Matrix<n, cols, Real> transposed_product(const KernelMatrices<n_heads, Mask, Real, block>& A,
                                         const Matrix<n, cols, Real>& Y) {
  require_same_sequences("the queries", A.queries(), "what they are multiplied by", Y.sequences());
  Matrix<n, cols, Real> V{A.keys(), Real(0)};
  A.for_each_head_at_once([&](std::size_t s, std::size_t h) {
    accumulate_visible<true, cols / n_heads>(A(s, h), head<n_heads>(Y, s, h), head<n_heads>(V, s, h));
  });
  return V;
}

}  // namespace tlm
