// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/attention/head_matrix.hpp>
#include <tlm/attention/kv_cache.hpp>
#include <tlm/attention/mask.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/matrix/function_ref.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/matrix/product.hpp>

/// What a kernel returns, a matrix for each head of each sequence, and the products of these.
namespace tlm {

namespace detail {

/// Where the entries of each sequence of KernelMatrices begin, and where those of the last end. Throws what their constructor
/// does.
inline std::vector<std::size_t> first_entries(const Sequences& queries, const Sequences& keys, std::size_t n_heads,
                                              bool looks_at_positions,
                                              std::size_t (*visible)(std::size_t, std::size_t)) {
  if (queries.count() != keys.count())
    refuse<std::invalid_argument>(
        {queries.count(), " sequences of queries cannot look at ", keys.count(), " sequences of keys"});
  std::vector<std::size_t> first(queries.count() + 1, 0);
  for (std::size_t s = 0; s < queries.count(); ++s) {
    const std::size_t height = queries.length(s), width = keys.length(s);
    if (height > 0 && width == 0)
      refuse<std::invalid_argument>(
          {"sequence ", s + 1, " has ", height, " queries and no keys: attention needs a row to look at"});
    if (looks_at_positions && height > width)
      refuse<std::invalid_argument>({height, " queries cannot be the last of only ", width, " positions"});
    for (std::size_t i = 0; i < height; ++i) {
      const std::size_t position = width + i - height, shown = visible(position, width);
      if (shown == 0 || shown > width)
        refuse<std::invalid_argument>({"the mask shows the query at position ", position + 1, " of a sequence ", shown,
                                       " keys, of ", width, " that there are"});
    }
    first[s + 1] = first[s] + n_heads * height * width;
  }
  return first;
}

}  // namespace detail

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
  KernelMatrices(const Sequences& queries, const Sequences& keys) : all_{made(queries, keys)} {}

  /// Of the same shape, uninitialised.
  KernelMatrices like() const { return {queries(), keys()}; }

  /// Which rows belong to which sequence.
  const Sequences& queries() const { return all_->queries; }
  /// Which columns belong to which sequence.
  const Sequences& keys() const { return all_->keys; }

  /// A of sequence s and head h.
  HeadMatrix<Mask, Real, block> operator()(std::size_t s, std::size_t h) const {
    const std::size_t height = queries().length(s), width = keys().length(s);
    return {all_->entries.data() + all_->first[s] + h * height * width, height, width};
  }

  /// The same, with entries of its own.
  OwnHeadMatrix<Mask, Real, block> own(std::size_t s, std::size_t h) const {
    OwnHeadMatrix<Mask, Real, block> copy{queries().length(s), keys().length(s)};
    for (std::size_t i = 0; i < copy.matrix.rows; ++i)
      std::copy_n(&(*this)(s, h)(i, 0), copy.matrix.visible(i), &copy.matrix(i, 0));
    return copy;
  }

  /// action(s, h) for every sequence s and head h.
  void for_each_head(FunctionRef<void(std::size_t s, std::size_t h)> action) const {
    for (std::size_t s = 0; s < queries().count(); ++s)
      for (std::size_t h = 0; h < n_heads; ++h) action(s, h);
  }

 private:
  struct All {
    Sequences queries, keys;
    std::vector<std::size_t> first;  // of the entries of each sequence
    Matrix<n, 1, Real> entries;
  };

  [[gnu::noinline]] static std::shared_ptr<All> made(const Sequences& queries, const Sequences& keys) {
    auto first = detail::first_entries(queries, keys, n_heads, !std::is_same_v<Mask, Unmasked>, Mask::visible);
    const auto all = std::make_shared<All>();
    all->queries = queries;
    all->keys = keys;
    all->entries = Matrix<n, 1, Real>{Sequences{first.back()}};
    all->first = std::move(first);
    return all;
  }

  // One pointer: pullbacks keep it, and are moved from layer to layer.
  std::shared_ptr<All> all_;
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
View<const Real> head(const KVCache<cols, n_heads, Real>& X, std::size_t s, std::size_t h) {
  return X.block(s, h);
}

/// A stack of sequences of rows of so many such numbers, for so many heads: a Matrix<n, cols, Real>, or
/// KVCache<cols, n_heads, Real>.
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

  /// That of head h of sequence s.
  OwnHeadMatrix<typename A::Mask, Real, A::block> own(std::size_t s, std::size_t h) const {
    OwnHeadMatrix<typename A::Mask, Real, A::block> product{queries().length(s), keys().length(s)};
    compute(s, h, product.matrix);
    return product;
  }

  /// That of all heads.
  operator A() const {
    A product{queries(), keys()};
    product.for_each_head([&](std::size_t s, std::size_t h) { compute(s, h, product(s, h)); });
    return product;
  }

 private:
  void compute(std::size_t s, std::size_t h, const HeadMatrix<typename A::Mask, Real, A::block>& to) const {
    multiply_visible(head<A::n_heads>(Q_, s, h), head<A::n_heads>(K_, s, h), to, factor_);
  }

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

/// Y = A×V in each head. Throws std::invalid_argument unless V has a row for every key.
template <std::size_t n_heads, class Mask, class Real, std::size_t block, class Values>
Matrix<n, Values::cols, Real> operator*(const KernelMatrices<n_heads, Mask, Real, block>& A,
                                        const Values& V) requires RowsForHeads<Values, n_heads, Values::cols, Real> {
  require_same_sequences("the keys", A.keys(), "the values", V.sequences());
  Matrix<n, Values::cols, Real> Y{A.queries(), Real(0)};
  A.for_each_head([&](std::size_t s, std::size_t h) {
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
  A.for_each_head([&](std::size_t s, std::size_t h) {
    accumulate_visible<true, cols / n_heads>(A(s, h), head<n_heads>(Y, s, h), head<n_heads>(V, s, h));
  });
  return V;
}

}  // namespace tlm
