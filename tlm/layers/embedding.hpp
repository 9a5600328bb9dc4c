// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <tlm/algebra/application.hpp>
#include <tlm/matrix/vocabulary.hpp>

namespace tlm {

namespace detail {

/// OneHot(x)×W: the row of W for each token of x. Throws std::out_of_range for a token that is not in the vocabulary.
template <std::size_t vocab_size, std::size_t cols, class Real>
Matrix<n, cols, Real> look_up(const Matrix<vocab_size, cols, Real>& W, const Tokens& x) {
  require_in_vocabulary(x, vocab_size);
  Matrix<n, cols, Real> Y{x.sequences()};
  for (std::size_t i = 0; i < x.rows(); ++i) Y.row(i) = W.row(std::size_t(x(i, 0)));
  return Y;
}

}  // namespace detail

/// Em(x)_i = the row of W_e that belongs to token x_i. (Article, "Embedding".)
///
/// A token is an integer from {0, …, vocab_size − 1}, and W_e, vocab_size × d_model, has a row for each. Rowwise, if
/// tokens are a matrix of dimension n×1, as in the article's "Definition of TransformerLM".
template <std::size_t vocab_size, std::size_t d_model, class Real = float>
struct Embedding {
  using declared = is::Rowwise;
  using domain = Tokens;
  using codomain = Matrix<n, d_model, Real>;
  static constexpr std::string_view symbol = "Em";

  Matrix<vocab_size, d_model, Real> W_e;

  /// Throws std::out_of_range for a token that is not in the vocabulary.
  codomain operator()(const domain& x) const { return detail::look_up(W_e, x); }

  /// Y_i is linear in row x_i of W_e, which therefore receives Ȳ_i. Tokens are not real numbers: nothing goes back.
  auto value_and_pullback(domain x) const {
    codomain Y = detail::look_up(W_e, x);
    return with_pullback(std::move(Y), [x = std::move(x)](const codomain& Y_bar, Embedding& gradient) {
      for (std::size_t i = 0; i < x.rows(); ++i) gradient.W_e.row(std::size_t(x(i, 0))) += Y_bar.row(i);
      return Nothing{};
    });
  }

  static constexpr void weights(auto&& visit, auto& layer) { visit("W_e", layer.W_e); }
};

}  // namespace tlm
