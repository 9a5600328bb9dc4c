#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <tlm/algebra/layer.hpp>
#include <tlm/matrix/matrix.hpp>

namespace tlm {

/// Softmax(X)_ij = exp(X_ij) / Σ_k exp(X_ik). (The Formulated Transformer, "Softmax".)
///
/// Rowwise; every row is a probability vector. The greatest entry of a row is subtracted first, which cancels and keeps
/// exp from overflowing.
template <std::size_t cols, class Real = float>
struct Softmax {
  using declared = is::Rowwise;
  using domain = Matrix<n, cols, Real>;
  using codomain = domain;
  static constexpr std::string_view symbol = "Softmax";

  codomain operator()(domain X) const {
    for (std::size_t i = 0; i < X.rows(); ++i) {
      const Real greatest = maximum(&X(i, 0), cols);
      for (std::size_t j = 0; j < cols; ++j) X(i, j) = exp(X(i, j) - greatest);
      const Real sum = total(X.row(i));
      for (std::size_t j = 0; j < cols; ++j) X(i, j) = X(i, j) / sum;
    }
    return X;
  }

  /// ∂y_j/∂x_k = y_j ([j = k] − y_k), hence dx_j = y_j (dy_j − Σ_k y_k dy_k), row by row.
  auto value_and_pullback(domain X) const {
    codomain Y = (*this)(std::move(X));
    return with_pullback(Y, [Y](codomain dY, Softmax&) {
      for (std::size_t i = 0; i < Y.rows(); ++i) {
        const Real mean = total(Y.row(i) * dY.row(i));
        for (std::size_t j = 0; j < cols; ++j) dY(i, j) = Y(i, j) * (dY(i, j) - mean);
      }
      return dY;
    });
  }

  static constexpr void weights(auto&&, auto&...) {}
};

}  // namespace tlm
