// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <tlm/algebra/application.hpp>
#include <tlm/algebra/noise.hpp>

namespace tlm {

/// Dropout(X) = X. While a model learns from Noisy batches (noisy.hpp) there is noise, and
///
///   Dropout(X; noise)_ij = X_ij·b_ij / (1 − p),   p = percent/100,
///
/// where b_ij is made of the noise: 0 with probability p, otherwise 1. (0 gives 0, even of ∞.) What is left is scaled, so
/// that the mean over the noise is X. (Srivastava et al., 2014; the Wolfram article, where p = 0.1.)
///
/// Dropout(X) is rowwise. Dropout(X; noise) is not, because each row has its own noise. But row i is made of row i and
/// of the noise of position i only. So an autoregressive model is autoregressive with noise, too.
template <std::size_t percent, std::size_t cols, class Real = float>
struct Dropout {
  static_assert(0 < percent && percent < 100, "a Dropout drops 1 to 99 percent of the numbers");
  using declared = is::Rowwise;
  using domain = Matrix<n, cols, Real>;
  using codomain = domain;
  using may_read = Noise;
  static constexpr std::string_view symbol = "Dropout";

  codomain operator()(domain X) const { return X; }
  codomain operator()(domain X, const Noise& noise) const { return dropped(std::move(X), noise.of(*this)); }

  /// X̄ = Ȳ.
  auto value_and_pullback(domain X) const {
    return with_pullback(std::move(X), [](codomain Y_bar, Dropout&) { return Y_bar; });
  }
  /// dY_ij = dX_ij·b_ij/(1 − p), which is symmetric: X̄_ij = Ȳ_ij·b_ij/(1 − p), with the same b.
  auto value_and_pullback(domain X, const Noise& noise) const {
    const Noise::OfLayer own = noise.of(*this);
    return with_pullback(dropped(std::move(X), own),
                         [own](codomain Y_bar, Dropout&, Noise&) { return dropped(std::move(Y_bar), own); });
  }

  static constexpr void weights(auto&&, auto&) {}

 private:
  static codomain dropped(domain X, const Noise::OfLayer& own) {
    constexpr std::uint64_t p = percent * (~std::uint64_t{0} / 100);  // a share p of the numbers below 2⁶⁴ is below it
    const Real scale = Real(100) / Real(100 - percent);
    const Sequences& sequences = X.sequences();
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i) {
        const std::uint64_t row = own.row(s, i - sequences.begin(s));
        for (std::size_t j = 0; j < cols; ++j) X(i, j) = mixed(row + j) < p ? Real(0) : X(i, j) * scale;
      }
    return X;
  }
};

}  // namespace tlm
