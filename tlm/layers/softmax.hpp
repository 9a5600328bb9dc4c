// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <tlm/algebra/application.hpp>
#include <tlm/numbers/rows.hpp>

namespace tlm {

/// Softmax(X)_ij = exp(X_ij) / Σ_k exp(X_ik). (The Formulated Transformer, "Softmax".)
///
/// Rowwise; of a finite row it is a probability vector.
template <std::size_t cols, class Real = float>
struct Softmax {
  using declared = is::Rowwise;
  using domain = Matrix<n, cols, Real>;
  using codomain = domain;
  static constexpr std::string_view symbol = "Softmax";

  codomain operator()(domain X) const {
    for (std::size_t i = 0; i < X.rows(); ++i) softmax(X.row(i));
    return X;
  }

  /// Row by row: see softmax_pullback.
  auto value_and_pullback(domain X) const {
    codomain Y = (*this)(std::move(X));
    return with_pullback(Y, [Y](codomain Y_bar, Softmax&) {
      for (std::size_t i = 0; i < Y.rows(); ++i) softmax_pullback(Y.row(i), Y_bar.row(i));
      return Y_bar;  // now X̄
    });
  }

  static constexpr void weights(auto&&, auto&) {}
};

/// F of a model Softmax∘F; constant if the model is.
template <class T>
requires std::is_same_v<decltype(T::g), Softmax<T::codomain::cols, typename T::codomain::Real>>
auto& without_softmax(T& model) { return model.f; }

}  // namespace tlm
