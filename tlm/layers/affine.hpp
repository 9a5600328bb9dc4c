// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <tlm/algebra/application.hpp>
#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/names.hpp>
#include <tlm/matrix/product.hpp>

namespace tlm {

/// X ↦ X×W, where the weight matrix W, rows × cols, has the letter `letter` in the book.
///
/// Rowwise: row i of X×W is X_i×W.
template <Symbol letter, std::size_t rows, std::size_t cols, class Real = float>
struct Times {
  using declared = is::Rowwise;
  using domain = Matrix<n, rows, Real>;
  using codomain = Matrix<n, cols, Real>;
  static auto written(const auto& X) { return X * letter; }

  Matrix<rows, cols, Real> W;

  codomain operator()(const domain& X) const { return X * W; }

  /// dY = dX×W + X×dW, hence ⟨Ȳ, dX×W⟩ = ⟨Ȳ×Wᵀ, dX⟩ and ⟨Ȳ, X×dW⟩ = ⟨Xᵀ×Ȳ, dW⟩: X̄ = Ȳ×Wᵀ and W̄ = Xᵀ×Ȳ.
  auto value_and_pullback(domain X) const& {
    codomain Y = X * W;
    return with_pullback(std::move(Y), [this, X = std::move(X)](const codomain& Y_bar, Times& gradient) {
      accumulate(gradient.W, transposed(X), Y_bar);
      return Y_bar * transposed(W);
    });
  }
  auto value_and_pullback(domain) const&& { return refuse_temporary<Times>(); }

  static constexpr void weights(auto&& visit, auto& layer) { visit(letter, layer.W); }
};

/// X ↦ X+B, where the n rows of B are identical, so that only one row is kept. `letter` is its letter in the book.
///
/// Rowwise: row i of X+B is X_i plus the one row of B.
template <Symbol letter, std::size_t cols, class Real = float>
struct Plus {
  using declared = is::Rowwise;
  using domain = Matrix<n, cols, Real>;
  using codomain = domain;
  static auto written(const auto& X) { return X + letter; }

  Row<cols, Real> B;

  codomain operator()(domain X) const { return std::move(X += B); }

  /// dY_i = dX_i + dB for every row i, hence X̄ = Ȳ and B̄ = Σ_i Ȳ_i.
  auto value_and_pullback(domain X) const {
    return with_pullback(std::move(X += B), [](codomain Y_bar, Plus& gradient) {
      for (std::size_t i = 0; i < Y_bar.rows(); ++i) gradient.B.row(0) += Y_bar.row(i);
      return Y_bar;
    });
  }

  static constexpr void weights(auto&& visit, auto& layer) { visit(Name{letter, Role::summand}, layer.B); }
};

/// X ↦ X×W + B, where the rows of B are identical. Rowwise.
template <Symbol W, Symbol B, std::size_t rows, std::size_t cols, class Real = float>
using Affine = Composition<Plus<B, cols, Real>, Times<W, rows, cols, Real>>;

}  // namespace tlm
