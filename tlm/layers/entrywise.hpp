// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <tlm/algebra/layer.hpp>

namespace tlm {

/// X ↦ f(X), entry by entry: y_ij = f(x_ij), where f is Function::value and f′ is Function::derivative.
///
/// Rowwise: row i of f(X) is f(X_i). A layer of this kind is a function of a number and its derivative:
///
///   struct Square {
///     template <class Real> static Real value(const Real& x) { return x * x; }
///     template <class Real> static Real derivative(const Real& x) { return x + x; }
///   };
template <class Function, std::size_t cols, class Real = float>
struct Entrywise {
  using declared = is::Rowwise;
  using domain = Matrix<n, cols, Real>;
  using codomain = domain;

  codomain operator()(domain X) const {
    for (std::size_t e = 0; e < X.rows() * cols; ++e) X.data()[e] = Function::value(X.data()[e]);
    return X;
  }

  /// dy = f′(x)·dx in every entry, hence x̄ = f′(x)·ȳ. Both are computed at once, as f and f′ often have a part in common.
  auto value_and_pullback(domain X) const {
    domain slopes{X.sequences()};
    for (std::size_t e = 0; e < X.rows() * cols; ++e) {
      const Real x = X.data()[e];
      X.data()[e] = Function::value(x);
      slopes.data()[e] = Function::derivative(x);
    }
    return with_pullback(std::move(X), [slopes = std::move(slopes)](codomain Y_bar, Entrywise&) {
      for (std::size_t e = 0; e < Y_bar.rows() * cols; ++e) Y_bar.data()[e] *= slopes.data()[e];
      return Y_bar;
    });
  }

  static constexpr void weights(auto&&, auto&...) {}
};

}  // namespace tlm
