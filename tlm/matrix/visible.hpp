#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <tlm/matrix/matrix.hpp>
#include <tlm/matrix/product.hpp>

/// Matrices of which only a part is visible, and their products.
///
/// A query (a row) sees its keys (columns) up to some last one; what it does not see is not there: it is neither read
/// nor multiplied by zero, so that even NaN cannot pass. Whole blocks of visible entries go to BLAS; the ragged edge is
/// done entry by entry.
namespace tlm {

/// The visibility of ◺A: row i keeps the entries at and below the main diagonal, j ≤ i.
struct Causal {
  /// How many keys the query at position i of its sequence sees: those with j ≤ i. This is the one place that says so.
  static constexpr std::size_t visible(std::size_t i, std::size_t /*n_keys*/) { return i + 1; }
};

/// Every query sees every key.
struct Unmasked {
  /// How many keys a query sees: all of them.
  static constexpr std::size_t visible(std::size_t /*i*/, std::size_t n_keys) { return n_keys; }
};

/// One matrix A for each sequence and each of n_heads heads: queries × keys, of which `Mask` says what is visible.
///
/// Under a Causal mask the queries of a sequence are the last of its positions: with as many queries as keys A is
/// square, with fewer it is the last rows of the square one. Copies share their entries. `block` rows make a block.
template <std::size_t n_heads_, class Mask_, class Real_, std::size_t block_>
class VisibleMatrices {
 public:
  using Real = Real_;
  using Mask = Mask_;
  static constexpr std::size_t n_heads = n_heads_;
  static constexpr std::size_t block = block_;
  static_assert(block > 0, "a block has at least one row");

  /// Uninitialised. Throws std::invalid_argument unless every sequence of queries has its sequence of keys, which has a
  /// key at least, and is as long at least where the mask looks at positions: there is no row that sees nothing.
  VisibleMatrices(const Sequences& queries, const Sequences& keys) : queries_{queries}, keys_{keys} {
    if (queries.count() != keys.count())
      throw std::invalid_argument(std::to_string(queries.count()) + " sequences of queries cannot look at " +
                                  std::to_string(keys.count()) + " sequences of keys");
    std::size_t size = 0;
    first_.reserve(queries.count());
    for (std::size_t s = 0; s < queries.count(); ++s) {
      if (queries.length(s) > 0 && keys.length(s) == 0)
        throw std::invalid_argument("sequence " + std::to_string(s + 1) + " has " + std::to_string(queries.length(s)) +
                                    " queries and no keys: attention needs a row to look at");
      if (!std::is_same_v<Mask, Unmasked> && queries.length(s) > keys.length(s))
        throw std::invalid_argument(std::to_string(queries.length(s)) + " queries cannot be the last of only " +
                                    std::to_string(keys.length(s)) + " positions");
      first_.push_back(size);
      size += n_heads * queries.length(s) * keys.length(s);
    }
    entries_ = std::make_shared<xt::uvector<Real, CacheLineAllocator<Real>>>(size);
  }

  /// Of the same shape, uninitialised.
  VisibleMatrices like() const { return {queries_, keys_}; }

  const Sequences& queries() const { return queries_; }
  const Sequences& keys() const { return keys_; }

  /// A of sequence s and head h. Only the visible part of a row is defined.
  View<Real> operator()(std::size_t s, std::size_t h) const {
    const std::size_t height = queries_.length(s), width = keys_.length(s);
    return {entries_->data() + first_[s] + h * height * width, height, width, width};
  }

  /// How many entries of row i of sequence s are visible: the first so many.
  std::size_t visible(std::size_t s, std::size_t i) const {
    return Mask::visible(keys_.length(s) + i - queries_.length(s), keys_.length(s));
  }

  /// action(s, h, top, height, shared) for every block of rows: `height` rows from `top`, all of which see at least
  /// the first `shared` keys. Behind those lies the ragged edge, less than two blocks wide.
  template <class Action>
  void for_each_block(const Action& action) const {
    for (std::size_t s = 0; s < queries_.count(); ++s)
      for (std::size_t h = 0; h < n_heads; ++h)
        for (std::size_t top = 0; top < queries_.length(s); top += block) {
          const std::size_t height = std::min(block, queries_.length(s) - top);
          const std::size_t least = visible(s, top), most = visible(s, top + height - 1);
          action(s, h, top, height, least == most ? least : least / block * block);
        }
  }

 private:
  Sequences queries_, keys_;
  std::vector<std::size_t> first_;
  std::shared_ptr<xt::uvector<Real, CacheLineAllocator<Real>>> entries_;
};

/// action(visible, a, …) for every row of A and the same rows of the others, which have the shape of A: how many
/// entries are visible, and where each row begins.
template <class Action, class A, class... Others>
void for_each_row(const Action& action, const A& matrices, const Others&... others) {
  for (std::size_t s = 0; s < matrices.queries().count(); ++s)
    for (std::size_t h = 0; h < A::n_heads; ++h)
      for (std::size_t i = 0; i < matrices.queries().length(s); ++i)
        action(matrices.visible(s, i), &matrices(s, h)(i, 0), &others(s, h)(i, 0)...);
}

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
auto head(M& X, const Sequences& sequences, std::size_t s, std::size_t h) {
  static_assert(CanSplit<M::cols, n_heads>::value);
  constexpr std::size_t d_head = M::cols / n_heads;
  return view(X).block(sequences.begin(s), sequences.length(s), h * d_head, d_head);
}

/// A = factor·Q×Kᵀ in each head, as far as it is visible.
template <class A, std::size_t cols, class Real>
A visible_product(const Matrix<n, cols, Real>& Q, const Matrix<n, cols, Real>& K,
                  std::type_identity_t<Real> factor = Real(1)) {
  A result{Q.sequences(), K.sequences()};
  result.for_each_block([&](std::size_t s, std::size_t h, std::size_t top, std::size_t height, std::size_t) {
    // An entry depends on its own row and column alone; those of the block that are not visible are never read.
    const std::size_t width = result.visible(s, top + height - 1);
    const auto queries = head<A::n_heads>(Q, Q.sequences(), s, h).block(top, height, 0, cols / A::n_heads);
    const auto keys = head<A::n_heads>(K, K.sequences(), s, h).block(0, width, 0, cols / A::n_heads);
    multiply(queries, keys.transposed(), result(s, h).block(top, height, 0, width), Present::overwritten, factor);
  });
  return result;
}

/// Y = A×V in each head.
template <std::size_t n_heads, class Mask, class Real, std::size_t block, std::size_t cols>
Matrix<n, cols, Real> operator*(const VisibleMatrices<n_heads, Mask, Real, block>& A, const Matrix<n, cols, Real>& V) {
  constexpr std::size_t d_head = cols / n_heads;
  Matrix<n, cols, Real> Y{A.queries(), Real(0)};
  A.for_each_block([&](std::size_t s, std::size_t h, std::size_t top, std::size_t height, std::size_t shared) {
    const auto A_sh = A(s, h);
    const auto V_sh = head<n_heads>(V, V.sequences(), s, h);
    const auto Y_sh = head<n_heads>(Y, Y.sequences(), s, h);
    if (shared > 0)
      multiply(A_sh.block(top, height, 0, shared), V_sh.block(0, shared, 0, d_head), Y_sh.block(top, height, 0, d_head),
               Present::added_to);
    for (std::size_t i = top; i < top + height; ++i)
      for (std::size_t j = shared; j < A.visible(s, i); ++j)
        for (std::size_t k = 0; k < d_head; ++k) Y_sh(i, k) += A_sh(i, j) * V_sh(j, k);
  });
  return Y;
}

/// V = Aᵀ×Y in each head.
template <std::size_t n_heads, class Mask, class Real, std::size_t block, std::size_t cols>
Matrix<n, cols, Real> transposed_product(const VisibleMatrices<n_heads, Mask, Real, block>& A,
                                         const Matrix<n, cols, Real>& Y) {
  constexpr std::size_t d_head = cols / n_heads;
  Matrix<n, cols, Real> V{A.keys(), Real(0)};
  A.for_each_block([&](std::size_t s, std::size_t h, std::size_t top, std::size_t height, std::size_t shared) {
    const auto A_sh = A(s, h);
    const auto V_sh = head<n_heads>(V, V.sequences(), s, h);
    const auto Y_sh = head<n_heads>(Y, Y.sequences(), s, h);
    if (shared > 0)
      multiply(A_sh.block(top, height, 0, shared).transposed(), Y_sh.block(top, height, 0, d_head),
               V_sh.block(0, shared, 0, d_head), Present::added_to);
    for (std::size_t i = top; i < top + height; ++i)
      for (std::size_t j = shared; j < A.visible(s, i); ++j)
        for (std::size_t k = 0; k < d_head; ++k) V_sh(j, k) += A_sh(i, j) * Y_sh(i, k);
  });
  return V;
}

}  // namespace tlm
