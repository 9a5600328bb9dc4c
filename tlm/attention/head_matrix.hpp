// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <tlm/matrix/function_ref.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/matrix/product.hpp>
#include <tlm/matrix/view.hpp>

/// A matrix of attention, of which only a part is visible, and its products.
///
/// What a query does not see is not there: it is neither read nor multiplied by zero, so that even NaN cannot pass. Whole
/// rectangles of visible entries go to BLAS; the ragged edge is done row by row.
namespace tlm {

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
  [[gnu::noinline]] void divide(Part part, FunctionRef<void(const Part&)> whole,
                                FunctionRef<void(const Part&)> edge) const {
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
      : entries_{Sequences{queries * keys}}, matrix{entries_.data(), queries, keys} {}

 private:
  Matrix<n, 1, Real> entries_;

 public:
  /// The matrix, which refers to them.
  HeadMatrix<Mask, Real, block> matrix;
};

/// x += Σ a·y, of vectors of so many numbers, four y at a time: x would be stored and read anew for each of them.
template <std::size_t count, class Real>
class LinearCombination {
 public:
  /// Of `count` numbers from x on.
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

/// to = factor·Q×Kᵀ as far as `to` is visible, in one head.
template <class Mask, class Real, std::size_t block>
[[gnu::noinline]] void multiply_visible(View<const std::type_identity_t<Real>> Q,
                                        View<const std::type_identity_t<Real>> K,
                                        const HeadMatrix<Mask, Real, block>& to, std::type_identity_t<Real> factor) {
  // An entry depends on its own row and column alone; those of an edge that are not visible are never read.
  const auto multiplied = [&](const auto& part) {
    multiply(Q.block(part.top, part.height, 0, Q.cols), K.block(part.left, part.width, 0, K.cols).transposed(),
             to.block(part.top, part.height, part.left, part.width), Present::overwritten, factor);
  };
  to.for_each_part(multiplied, multiplied);
}

/// to += factor·A×from, or to += factor·Aᵀ×from, in one head of width d_head: the one traversal of what is
/// visible.
template <bool transposed, std::size_t d_head, class Mask, class Real, std::size_t block>
[[gnu::noinline]] void accumulate_visible(const HeadMatrix<Mask, Real, block>& A,
                                          View<const std::type_identity_t<Real>> from,
                                          View<std::type_identity_t<Real>> to,
                                          std::type_identity_t<Real> factor = Real(1)) {
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

}  // namespace tlm
