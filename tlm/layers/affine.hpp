#pragma once

#include <cstddef>
#include <utility>

#include <tlm/algebra/layer.hpp>
#include <tlm/algebra/symbol.hpp>
#include <tlm/algebra/weights.hpp>
#include <tlm/matrix/product.hpp>

namespace tlm {

/// X ↦ X×W, where the weight matrix W, rows × cols, has the letter `letter` in the write-up.
///
/// Rowwise: row i of X×W is X_i×W.
template <Symbol letter, std::size_t rows, std::size_t cols, class Real = float>
struct Times {
  using declared = is::Rowwise;
  using domain = Matrix<n, rows, Real>;
  using codomain = Matrix<n, cols, Real>;

  Matrix<rows, cols, Real> W;

  codomain operator()(const domain& X) const { return X * W; }

  /// dY = dX×W + X×dW, hence ⟨dL, dX×W⟩ = ⟨dL×Wᵀ, dX⟩ and ⟨dL, X×dW⟩ = ⟨Xᵀ×dL, dW⟩.
  auto value_and_pullback(domain X) const {
    codomain Y = X * W;
    return with_pullback(std::move(Y), [this, X = std::move(X)](const codomain& dY, Times& gradient) {
      accumulate(gradient.W, transposed(X), dY);
      return dY * transposed(W);
    });
  }

  static constexpr void weights(auto&& visit, auto&... layer) { visit(Name{letter}, layer.W...); }
};

/// X ↦ X+B, where the n rows of B are identical, its letter in the write-up is `letter`, and only one row is kept.
///
/// Rowwise: row i of X+B is X_i plus the one row of B.
template <Symbol letter, std::size_t cols, class Real = float>
struct Plus {
  using declared = is::Rowwise;
  using domain = Matrix<n, cols, Real>;
  using codomain = domain;

  Matrix<std::size_t{1}, cols, Real> B;

  codomain operator()(domain X) const { return std::move(X += B); }

  /// dY_i = dX_i + dB for every row i, hence dX = dY and dB = Σ_i dY_i.
  auto value_and_pullback(domain X) const {
    return with_pullback(std::move(X += B), [](codomain dY, Plus& gradient) {
      accumulate_rows(gradient.B, dY);
      return dY;
    });
  }

  static constexpr void weights(auto&& visit, auto&... layer) {
    visit(Name{letter, 0, nullptr, Role::summand}, layer.B...);
  }
};

}  // namespace tlm
