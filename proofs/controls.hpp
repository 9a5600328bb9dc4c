// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "all_layers.hpp"

/// Negative controls: operations that are wrong in one way each. The proofs must find every error.
namespace tlm::proofs {

/// The rows of every sequence in reversed order.
template <class M>
M reversed(const M& X) {
  M Y{X.sequences()};
  for (std::size_t s = 0; s < X.sequences().count(); ++s)
    for (std::size_t i = 0; i < X.sequences().length(s); ++i)
      std::copy_n(X.data() + (X.sequences().begin(s) + i) * M::cols, M::cols,
                  Y.data() + (X.sequences().end(s) - 1 - i) * M::cols);
  return Y;
}

/// F of the sequences read backwards. Its pullback reads backwards, too.
template <class F>
struct Backwards : F {
  template <class... Entries>
  typename F::codomain operator()(const typename F::domain& X, const Entries&... entries) const {
    return reversed(apply(static_cast<const F&>(*this), reversed(X), entries...));
  }
  template <class... Entries>
  auto value_and_pullback(const typename F::domain& X, const Entries&... entries) const {
    auto [Y, F_pullback] = differentiate(static_cast<const F&>(*this), reversed(X), entries...);
    return with_pullback(reversed(Y),
                         [F_pullback = std::move(F_pullback)](const typename F::codomain& Y_bar, Backwards& gradient,
                                                              Entries&... entry_gradients) {
                           return reversed(F_pullback(reversed(Y_bar), static_cast<F&>(gradient), entry_gradients...));
                         });
  }
};

/// The mask of the NumPy notebook's class, read backwards: row i sees the rows before it, but not itself. No row is
/// before the first one, which sees everything. The class has the mask the other way round: row i sees only the future,
/// and the last row everything.
struct StrictlyBefore {
  using declared = is::Unrestricted;
  static constexpr std::string_view symbol = "mask";
  static constexpr std::size_t visible(std::size_t i, std::size_t n_keys) { return i == 0 ? n_keys : i; }
};
template <class Real>
using UpsideDownMask = Backwards<HeadsOf<StrictlyBefore, n_heads, block, Real>>;

/// j ≤ min(i+1, n): every row sees one row of the future.
struct OneTooMany {
  using declared = is::Unrestricted;
  static constexpr std::string_view symbol = "mask";
  static constexpr std::size_t visible(std::size_t i, std::size_t n_keys) { return std::min(i + 2, n_keys); }
};
template <class Real>
using OffByOneMask = HeadsOf<OneTooMany, n_heads, block, Real>;

/// One head of attention, softmax(◺(Q(X)×K(X)ᵀ/√d_head))×V(X), written out with all of its n×n scores: the right one,
/// and wrong ones.
enum class Flaw {
  none,                    ///< the formula
  minus_1e9,               ///< hidden scores are s − 10⁹, instead of not being there
  times_0,                 ///< hidden exponentials are multiplied by 0 (as the article's notebook does)
  full_row_maximum,        ///< the maximum subtracted is that of the whole row
  divided_by_root_n,       ///< scores are divided by √n instead of √d_head
  divided_by_root_d_model  ///< scores are divided by √d_model instead of √d_head
};
template <Flaw flaw, class Real>
struct WrittenOut {
  static constexpr std::size_t d_head = d_model / n_heads;
  using declared = is::Unrestricted;
  using domain = Matrix<n, d_model, Real>;
  using codomain = Matrix<n, d_head, Real>;
  Times<"W_Q", d_model, d_head, Real> Q;
  Times<"W_K", d_model, d_head, Real> K;
  Times<"W_V", d_model, d_head, Real> V;

  codomain operator()(const domain& X) const {
    const std::size_t rows = X.rows();
    const auto Q_X = Q(X), K_X = K(X), V_X = V(X);
    codomain Y{X.sequences()};
    const Real c = sqrt(Real(flaw == Flaw::divided_by_root_n         ? rows
                             : flaw == Flaw::divided_by_root_d_model ? d_model
                                                                     : d_head));
    for (std::size_t i = 0; i < rows; ++i) {
      std::vector<Real> s(rows);
      for (std::size_t j = 0; j < rows; ++j) {
        for (std::size_t k = 0; k < d_head; ++k) s[j] += Q_X(i, k) * K_X(j, k);
        s[j] = s[j] / c;
        if (flaw == Flaw::minus_1e9 && j > i) s[j] = s[j] - Real(1'000'000'000);
      }
      const std::size_t seen = flaw == Flaw::minus_1e9 || flaw == Flaw::times_0 ? rows : i + 1;
      const Real greatest =
          flaw == Flaw::times_0 ? Real(0) : maximum(s.data(), flaw == Flaw::full_row_maximum ? rows : seen);
      Real sum(0);
      for (std::size_t j = 0; j < seen; ++j) {
        s[j] = exp(s[j] - greatest);
        if (flaw == Flaw::times_0) s[j] = s[j] * Real(int(j <= i));
        sum += s[j];
      }
      for (std::size_t j = 0; j < seen; ++j)
        for (std::size_t k = 0; k < d_head; ++k) Y(i, k) += s[j] / sum * V_X(j, k);
    }
    return Y;
  }

  static constexpr void weights(auto&& visit, auto& layer) {
    visit("W_Q", layer.Q.W);
    visit("W_K", layer.K.W);
    visit("W_V", layer.V.W);
  }
};
template <class Real>
using AdditiveMask = WrittenOut<Flaw::minus_1e9, Real>;
template <class Real>
using MaskByZero = WrittenOut<Flaw::times_0, Real>;
template <class Real>
using FullRowMaximum = WrittenOut<Flaw::full_row_maximum, Real>;
template <class Real>
using DividedByRootN = WrittenOut<Flaw::divided_by_root_n, Real>;

/// A "normalisation" over columns: the mean of its column is subtracted from every entry.
template <class Real>
struct ColumnNormalization {
  using declared = is::Unrestricted;
  using domain = Matrix<n, d_model, Real>;
  using codomain = domain;

  codomain operator()(domain X) const {
    Row<d_model, Real> mean;
    for (std::size_t i = 0; i < X.rows(); ++i) mean.row(0) += X.row(i);
    mean.row(0) = mean.row(0) / Real(X.rows());
    for (std::size_t i = 0; i < X.rows(); ++i) X.row(i) -= mean.row(0);
    return X;
  }
  /// A symmetric linear map is its own transpose.
  auto value_and_pullback(const domain& X) const {
    return with_pullback((*this)(X),
                         [](const codomain& Y_bar, ColumnNormalization&) { return ColumnNormalization{}(Y_bar); });
  }
  static constexpr void weights(auto&&, auto&) {}
};

/// softmax(◺((Q∘columns)(X)×K(X)ᵀ/c)) × V(X), where Q is not autoregressive.
template <class Real>
using QueriesOfColumns =
    Attention<1, Causal, ColumnNormalization<Real>, Plus<"K", d_model, Real>, Plus<"V", d_model, Real>, NoBias, block>;
/// softmax(◺(Q(X)×K(X)ᵀ/c)) × V(X), where K is not autoregressive. (The mean alone would change all scores of a row by
/// the same amount. Over ℝ softmax does not see that, hence the ReLU.)
template <class Real>
using KeysOfColumns = Attention<1, Causal, Plus<"Q", d_model, Real>, Composition<ReLu<Real>, ColumnNormalization<Real>>,
                                Plus<"V", d_model, Real>, NoBias, block>;
/// softmax(◺(Q(X)×K(X)ᵀ/c)) × V(X), where V is not autoregressive.
template <class Real>
using ValuesOfColumns =
    Attention<1, Causal, Plus<"Q", d_model, Real>, Plus<"K", d_model, Real>, ColumnNormalization<Real>, NoBias, block>;
/// softmax(Q(X)×K(X)ᵀ/c) × V(X), whose first factor is not a causal kernel.
template <class Real>
using WithoutMask = HeadsOf<Unmasked, n_heads, block, Real>;

/// PE with positions counted from the right: the last row receives the first row of PE.
template <class Real>
using PositionsFromTheRight = Backwards<PE<Real>>;

/// A(X)×B(X) with A(X) = I/n: always lower triangular, but A(X|i) is not the leading block of A(X).
template <class Real>
struct AveragedIdentity {
  using declared = is::Unrestricted;
  using domain = Matrix<n, d_model, Real>;
  using codomain = domain;

  codomain operator()(domain X) const {
    for (std::size_t i = 0; i < X.rows(); ++i)
      for (std::size_t j = 0; j < d_model; ++j) X(i, j) = X(i, j) / Real(X.rows());
    return X;
  }
  static constexpr void weights(auto&&, auto&) {}
};

}  // namespace tlm::proofs
