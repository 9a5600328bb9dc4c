// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <tlm/algebra/application.hpp>

namespace tlm {

/// X ↦ f(X), entry by entry: y_ij = f(x_ij). Function::value_and_derivative(x) is the pair of f(x) and f′(x).
///
/// Rowwise: row i of f(X) is f(X_i). A layer of this kind is a function of a number with its derivative:
///
///   struct Square {
///     static auto value_and_derivative(const auto& x) { return std::pair{x * x, x + x}; }
///   };
///
/// The number may be a batch of xsimd, which is several numbers at once. So cases are told apart by where(x < Real(0),
/// a, b).
template <class Function, std::size_t cols, class Real = float>
struct Entrywise {
  using declared = is::Rowwise;
  using domain = Matrix<n, cols, Real>;
  using codomain = domain;

  codomain operator()(domain X) const {
    auto x = X.entries();
    x = xt::make_lambda_xfunction([](const auto& x_j) { return Function::value_and_derivative(x_j).first; }, x);
    return X;
  }

  /// dy = f′(x)·dx in every entry, hence x̄ = f′(x)·ȳ.
  auto value_and_pullback(domain X) const {
    domain slopes{X.sequences()};
    const auto x = X.entries();
    detail::for_each_batch(x, x.size(), [&](const auto& batch, std::size_t j, std::size_t count) {
      const auto [y, slope] = Function::value_and_derivative(batch);
      detail::store<Real>(y, X.data() + j, count);  // y takes the place of x
      detail::store<Real>(slope, slopes.data() + j, count);
    });
    return with_pullback(std::move(X), [slopes = std::move(slopes)](codomain Y_bar, Entrywise&) {
      auto y_bar = Y_bar.entries(), x_bar = y_bar;  // x̄ takes the place of ȳ
      x_bar = slopes.entries() * y_bar;
      return Y_bar;
    });
  }

  static constexpr void weights(auto&&, auto&) {}
};

}  // namespace tlm
