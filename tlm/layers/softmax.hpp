#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <tlm/algebra/layer.hpp>
#include <tlm/matrix/matrix.hpp>

namespace tlm {

/// x_j ← exp(x_j) / Σ_k exp(x_k), over `count` numbers. The greatest of them is subtracted first, which cancels and keeps
/// exp from overflowing.
template <class Real>
void softmax(Real* x, std::size_t count) {
  const Real greatest = maximum(x, count);
  for (std::size_t j = 0; j < count; ++j) x[j] = exp(x[j] - greatest);
  const Real sum = sum_of(count, [x](std::size_t j) { return x[j]; });
  for (std::size_t j = 0; j < count; ++j) x[j] = x[j] / sum;
}

/// dx_j = y_j (dy_j − Σ_k y_k dy_k), as y = softmax(x) has ∂y_j/∂x_k = y_j ([j = k] − y_k). Here dx may be dy.
template <class Real>
void softmax_pullback(const Real* y, const Real* dy, Real* dx, std::size_t count) {
  const Real mean = sum_of(count, [y, dy](std::size_t j) { return y[j] * dy[j]; });
  for (std::size_t j = 0; j < count; ++j) dx[j] = y[j] * (dy[j] - mean);
}

/// Softmax(X)_ij = exp(X_ij) / Σ_k exp(X_ik). (The Formulated Transformer, "Softmax".)
///
/// Rowwise; every row is a probability vector.
template <std::size_t cols, class Real = float>
struct Softmax {
  using declared = is::Rowwise;
  using domain = Matrix<n, cols, Real>;
  using codomain = domain;
  static constexpr std::string_view symbol = "Softmax";

  codomain operator()(domain X) const {
    for (std::size_t i = 0; i < X.rows(); ++i) softmax(&X(i, 0), cols);
    return X;
  }

  /// Row by row, see softmax_pullback.
  auto value_and_pullback(domain X) const {
    codomain Y = (*this)(std::move(X));
    return with_pullback(Y, [Y](codomain dY, Softmax&) {
      for (std::size_t i = 0; i < Y.rows(); ++i) softmax_pullback(&Y(i, 0), &dY(i, 0), &dY(i, 0), cols);
      return dY;
    });
  }

  static constexpr void weights(auto&&, auto&...) {}
};

}  // namespace tlm
