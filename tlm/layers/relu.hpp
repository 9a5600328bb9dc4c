#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <tlm/algebra/layer.hpp>

namespace tlm {

/// ReLU(X) = max(0, X), entry by entry. Rowwise. (Article, "The Feed Forward layer".)
template <std::size_t cols, class Real = float>
struct ReLU {
  using declared = is::Rowwise;
  using domain = Matrix<n, cols, Real>;
  using codomain = domain;
  static constexpr std::string_view symbol = "ReLU";

  codomain operator()(domain X) const {
    for (std::size_t e = 0; e < X.rows() * cols; ++e) X.data()[e] = relu(X.data()[e]);
    return X;
  }

  /// dx = ReLU′(x)·dy. The derivative at 0 is chosen to be 0; everywhere else there is no choice.
  auto value_and_pullback(domain X) const {
    codomain Y = (*this)(X);
    return with_pullback(std::move(Y), [X = std::move(X)](codomain dY, ReLU&) {
      for (std::size_t e = 0; e < X.rows() * cols; ++e) dY.data()[e] *= relu_derivative(X.data()[e]);
      return dY;
    });
  }

  static constexpr void weights(auto&&, auto&...) {}
};

}  // namespace tlm
