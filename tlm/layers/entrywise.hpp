// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <tlm/algebra/application.hpp>

namespace tlm {

/// X ↦ f(X), entry by entry: y_ij = f(x_ij). Function::value(x) is f(x), and Function::derivative(x) is f′(x).
///
/// Rowwise: row i of f(X) is f(X_i). A layer of this kind is a function of a number with its derivative:
///
///   struct Square {
///     static auto value(const auto& x) { return x * x; }
///     static auto derivative(const auto& x) { return x + x; }
///   };
///
/// The number may be a batch of xsimd, which is several numbers at once, or of another arithmetic. So there is no `if`:
/// cases are told apart by relu and relu_derivative, or of floating-point numbers by where(condition, a, b).
template <class Function, std::size_t cols, class Real = float>
struct Entrywise {
  using declared = is::Rowwise;
  using domain = Matrix<n, cols, Real>;
  using codomain = domain;

  codomain operator()(domain X) const {
    auto x = X.entries();
    x = xt::make_lambda_xfunction([](const auto& x_j) { return Function::value(x_j); }, x);
    return X;
  }

  /// dy = f′(x)·dx in every entry, hence x̄ = f′(x)·ȳ.
  auto value_and_pullback(domain X) const {
    codomain Y = (*this)(X);
    return with_pullback(std::move(Y), [X = std::move(X)](codomain Y_bar, Entrywise&) {
      auto y_bar = Y_bar.entries(), x_bar = y_bar;  // x̄ takes the place of ȳ
      x_bar = xt::make_lambda_xfunction([](const auto& x_j) { return Function::derivative(x_j); }, X.entries()) * y_bar;
      return Y_bar;
    });
  }

  static constexpr void weights(auto&&, auto&) {}
};

}  // namespace tlm
