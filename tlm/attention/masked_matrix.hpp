// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <tlm/matrix/product.hpp>
#include <tlm/matrix/view.hpp>
#include <tlm/numbers/vector.hpp>

/// A matrix of attention, part of which is visible, and its products.
///
/// What a query does not see is neither read nor multiplied by zero, so that even NaN cannot pass.
namespace tlm::detail {

/// S or A of one head in one sequence: queries × keys. `Mask` decides what is visible. The object refers to its
/// entries.
///
/// If the mask looks at positions, the queries are the last positions: as many queries as keys make a square, and fewer
/// are its last rows. The visible part of row i is its first visible(i) entries. Only these are defined.
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
  /// A triangle is divided into a square and two triangles, and so on.
  void for_each_part(const auto& whole, const auto& edge) const {
    if (this->rows > 0) divide({0, this->rows, 0, this->cols}, whole, edge);
  }

  /// action(i, j) for each visible entry of a part.
  void for_each_visible(const Part& part, const auto& action) const {
    for (std::size_t i = part.top; i < part.top + part.height; ++i)
      for (std::size_t j = part.left; j < std::min(part.left + part.width, visible(i)); ++j) action(i, j);
  }

 private:
  /// In these rows everything to the left of the part is visible, and was visited.
  void divide(Part part, const auto& whole, const auto& edge) const {
    std::size_t least = visible(part.top), most = least;
    for (std::size_t i = part.top + 1; i < part.top + part.height; ++i) {
      least = std::min(least, visible(i));
      most = std::max(most, visible(i));
    }
    const std::size_t shared = least == most ? least : least / block * block;
    if (part.left < shared) whole(Part{part.top, part.height, part.left, shared - part.left});
    if (shared == most) return;
    if (part.height <= block) return edge(Part{part.top, part.height, shared, most - shared});
    const std::size_t upper = (part.height / 2 + block - 1) / block * block;
    divide({part.top, upper, shared, 0}, whole, edge);
    divide({part.top + upper, part.height - upper, shared, 0}, whole, edge);
  }
};

/// S = factor·A×B, as far as S is visible. (The hidden entries of an edge are computed too, and never read.)
template <class Mask, class Real, std::size_t block>
void multiply(View<const std::type_identity_t<Real>> A, View<const std::type_identity_t<Real>> B,
              const MaskedMatrix<Mask, Real, block>& S, std::type_identity_t<Real> factor) {
  const auto part_of_S = [&](const auto& part) {
    multiply(A.block(part.top, part.height, 0, A.cols), B.block(0, B.rows, part.left, part.width),
             S.block(part.top, part.height, part.left, part.width), Present::overwritten, factor);
  };
  S.for_each_part(part_of_S, part_of_S);
}

/// Y += factor·A×V, the sum of factor·a_ij·V_j over the visible (i, j). V and Y are `width` columns wide.
template <std::size_t width, class Mask, class Entry, std::size_t block, class Real = std::remove_const_t<Entry>>
void accumulate(View<std::remove_const_t<Entry>> Y, const MaskedMatrix<Mask, Entry, block>& A,
                View<const std::remove_const_t<Entry>> V, std::remove_const_t<Entry> factor = Real(1)) {
  A.for_each_part(
      [&](const auto& part) {
        multiply(A.block(part.top, part.height, part.left, part.width), V.block(part.left, part.width, 0, width),
                 Y.block(part.top, part.height, 0, width), Present::added_to, factor);
      },
      [&](const auto& part) {
        A.for_each_visible(part, [&](std::size_t i, std::size_t j) {
          auto y = as_vector<width>(&Y(i, 0));
          y += factor * A(i, j) * as_vector<width>(&V(j, 0));
        });
      });
}

/// Aᵀ as a factor of a product. It refers to A.
template <class Mask, class Entry, std::size_t block>
Transposed<MaskedMatrix<Mask, Entry, block>> transposed(const MaskedMatrix<Mask, Entry, block>& A) {
  return {A};
}

/// V += factor·Aᵀ×Y, the sum of factor·a_ij·Y_i over the visible (i, j). V and Y are `width` columns wide.
template <std::size_t width, class Mask, class Entry, std::size_t block, class Real = std::remove_const_t<Entry>>
void accumulate(View<std::remove_const_t<Entry>> V, Transposed<MaskedMatrix<Mask, Entry, block>> A_transposed,
                View<const std::remove_const_t<Entry>> Y, std::remove_const_t<Entry> factor = Real(1)) {
  const auto& A = A_transposed.matrix;
  A.for_each_part(
      [&](const auto& part) {
        multiply(A.block(part.top, part.height, part.left, part.width).transposed(),
                 Y.block(part.top, part.height, 0, width), V.block(part.left, part.width, 0, width), Present::added_to,
                 factor);
      },
      [&](const auto& part) {
        A.for_each_visible(part, [&](std::size_t i, std::size_t j) {
          auto v = as_vector<width>(&V(j, 0));
          v += factor * A(i, j) * as_vector<width>(&Y(i, 0));
        });
      });
}

}  // namespace tlm::detail
