// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/concat.hpp>
#include <tlm/layers/constant_positions.hpp>
#include <tlm/layers/identity.hpp>

/// Ways to see positions from the NumPy notebook's section "Positional encoding": those that append something to x_t.
/// (PositionalEncoding is the sum x_t + p_t. heads.hpp adds to keys, queries and values.)
namespace tlm {

/// X ↦ 0, with as many rows as X has. Rowwise.
template <std::size_t d, std::size_t cols, class Real = float>
struct Zeros {
  using declared = is::Rowwise;
  using domain = Matrix<n, d, Real>;
  using codomain = Matrix<n, cols, Real>;
  static auto written(const auto&) { return "0"; }

  codomain operator()(const domain& X) const { return codomain{X.sequences()}; }
  /// dY = 0, hence X̄ = 0.
  auto value_and_pullback(const domain& X) const {
    return with_pullback((*this)(X), [](const codomain& Y_bar, Zeros&) { return domain{Y_bar.sequences()}; });
  }
  static constexpr void weights(auto&&, auto&) {}
};

/// x̄_t = (x_t, p_t), "concatenate it to the input": X ↦ Concat(X, P(0)), where X is d columns wide and P(X) = X + p|n is any
/// of these:
///
///   PositionalEncoding            learned p_t
///   ConstantPositionalEncoding    sinusoidal functions of varying periods
///   SequenceNumber                p_t = t
///   Indicators                    p_t says in which part of the longest sequence t lies
///   IndicatorsOfSequence          p_t says in which part of its sequence t lies
///
/// This is what P is: autoregressive, except with the last.
template <std::size_t d, class P>
using Appended =
    Concat<Identity<d, typename P::domain::Real>, Composition<P, Zeros<d, P::domain::cols, typename P::domain::Real>>>;

/// x ↦ x + t, where t = 1, 2, … is the position, and no sequence is longer than max_len. "Naively we could just try to
/// append the sequence number to the input"; Appended<d, SequenceNumber<max_len>> does.
///
/// Autoregressive, and not rowwise: a row alone is the first.
template <std::size_t max_len, class Real = float>
struct SequenceNumber : positions::ConstantPositions<"t", max_len, 1, Real> {
  SequenceNumber() {
    for (std::size_t t = 1; t <= max_len; ++t) this->PE(t - 1, 0) = Real(t);
  }
};

/// Adds to row i of X the indicators of position t in a sequence of length L. Column k = 1, …, levels says whether t
/// lies in the second half (k = 1) of the sequence, of its half (k = 2), of its quarter, and so on. The last column
/// says whether t is even:
///
///   ⌊2^k·(t−1)/L⌋ mod 2   for k = 1, …, levels,   and   (t−1) mod 2.
template <class M>
void add_indicators(M& X, std::size_t i, std::size_t t, std::size_t L) {
  using Real = typename M::Real;
  std::size_t numerator = t - 1;  // the rest of (t−1)/L, whose next binary digit is computed next
  for (std::size_t k = 0; k + 1 < M::cols; ++k) {
    numerator *= 2;
    X(i, k) += Real(numerator / L);
    numerator %= L;
  }
  X(i, M::cols - 1) += Real((t - 1) % 2);
}

/// X ↦ X + p|n, where p_t are the indicators of position t in a sequence of length max_len (add_indicators). "For every
/// input we add an indicator whether input comes from the first or the second half of the sequence. And an indicator
/// from which quarter the input comes, and so on. And finally, whether the input has an even or an odd index." Here
/// "the sequence" is the longest that there may be.
///
/// Autoregressive, and not rowwise.
template <std::size_t levels, std::size_t max_len, class Real = float>
struct Indicators : positions::ConstantPositions<"p", max_len, levels + 1, Real> {
  Indicators() {
    for (std::size_t t = 1; t <= max_len; ++t) add_indicators(this->PE, t - 1, t, max_len);
  }
};

/// The same, but here "the sequence" is the one that t is in, with n rows.
///
/// Unrestricted: the half of a row depends on how many rows follow it. So it is for encoders, and no decoder can have
/// it.
template <std::size_t levels, class Real = float>
struct IndicatorsOfSequence {
  using declared = is::Unrestricted;
  using domain = Matrix<n, levels + 1, Real>;
  using codomain = domain;
  static auto written(const auto& X) { return X + "p^n"; }

  codomain operator()(domain X) const {
    const Sequences sequences = X.sequences();
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (std::size_t t = 1; t <= sequences.length(s); ++t)
        add_indicators(X, sequences.begin(s) + t - 1, t, sequences.length(s));
    return X;
  }
  /// X̄ = Ȳ.
  auto value_and_pullback(domain X) const {
    return with_pullback((*this)(std::move(X)), [](codomain Y_bar, IndicatorsOfSequence&) { return Y_bar; });
  }
  static constexpr void weights(auto&&, auto&) {}
};

}  // namespace tlm
