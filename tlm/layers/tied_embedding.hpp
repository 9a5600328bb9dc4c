// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <tlm/algebra/tied.hpp>
#include <tlm/layers/embedding.hpp>
#include <tlm/matrix/product.hpp>

namespace tlm {

/// x ↦ OneHot(x)×W_e, where W_e belongs to the environment. (The Formulated Transformer, "Forward pass".) Rowwise.
template <Symbol letter, std::size_t vocab_size, std::size_t d_model, class Real = float>
struct TiedEmbedding {
  using declared = is::Rowwise;
  using domain = Tokens;
  using codomain = Matrix<n, d_model, Real>;
  using reads = TiedWeight<letter, vocab_size, d_model, Real>;
  template <class Text>
  static Text written(const Text& x) {
    return Text{"OneHot"}(x)*letter;
  }

  /// Throws std::out_of_range for a token that is not in the vocabulary.
  codomain operator()(const domain& x, const reads& item) const { return detail::look_up(item.W, x); }

  /// dY = OneHot(x)×dW, hence W̄ = OneHot(x)ᵀ×Ȳ. Tokens are not real numbers: nothing goes back.
  auto value_and_pullback(domain x, const reads& item) const {
    codomain Y = detail::look_up(item.W, x);
    return with_pullback(std::move(Y), [x = std::move(x)](const codomain& Y_bar, TiedEmbedding&, reads& item_gradient) {
      for (std::size_t i = 0; i < x.rows(); ++i) item_gradient.W.row(std::size_t(x(i, 0))) += Y_bar.row(i);
      return Nothing{};
    });
  }

  static constexpr void weights(auto&&, auto&) {}
};

/// X ↦ X×W_eᵀ, where W_e belongs to the environment. (The Formulated Transformer, "Forward pass".) Rowwise.
template <Symbol letter, std::size_t vocab_size, std::size_t d_model, class Real = float>
struct TiedOutput {
  using declared = is::Rowwise;
  using domain = Matrix<n, d_model, Real>;
  using codomain = Matrix<n, vocab_size, Real>;
  using reads = TiedWeight<letter, vocab_size, d_model, Real>;
  template <class Text>
  static Text written(const Text& X) {
    return X * transposed(Text{letter});
  }

  codomain operator()(const domain& X, const reads& item) const { return X * transposed(item.W); }

  /// dY = dX×Wᵀ + X×dWᵀ, hence X̄ = Ȳ×W and W̄ = Ȳᵀ×X.
  auto value_and_pullback(domain X, const reads& item) const {
    codomain Y = X * transposed(item.W);
    return with_pullback(std::move(Y),
                         [&item, X = std::move(X)](const codomain& Y_bar, TiedOutput&, reads& item_gradient) {
                           accumulate(item_gradient.W, transposed(Y_bar), X);
                           return Y_bar * item.W;
                         });
  }

  static constexpr void weights(auto&&, auto&) {}
};

}  // namespace tlm
