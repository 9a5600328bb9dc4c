// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <type_traits>

#include <tlm/base/refuse.hpp>

/// Objectives: what is minimized. With y_kv the log probability that a model gives to token v in row k, a loss is
///
///   −Σ_k ω_k·(Σ_v q_kv·y_kv) / c.
///
/// An objective chooses the divisor c, by divisor(Σω), and the distribution q_k that is wanted in row k, by q(). With
/// q_k = OneHot(x_k), Σ_v q_kv·y_kv is y_k, the log probability of token x_k. Or it is a smoothed one (smoothed.hpp).
namespace tlm {

/// The distribution q = OneHot(x) on {0, …, s−1}, which gives token x the probability 1.
struct OneHot {
  /// Σ_v q_v y_v = y_x. The other terms are left out, because 0·y_v is not a number if y_v is −∞.
  auto expectation(const auto& y, std::size_t x) const { return y[x]; }
  /// r ← r − share·q.
  void subtract(const auto& share, auto r, std::size_t x) const { r[x] -= share; }
};

/// The weighted mean: c = Σω. (Article, "Batch evaluation with loss weights".)
struct Mean {
  /// c. Throws std::invalid_argument if it is 0.
  template <class Real>
  Real divisor(const Real& sum_of_weights) const {
    if constexpr (std::is_floating_point_v<Real>)
      if (sum_of_weights == Real(0))
        refuse<std::invalid_argument>({"the loss weights of a batch sum to 0: no token counts"});
    return sum_of_weights;
  }
  OneHot q() const { return {}; }  ///< q
};

/// The weighted sum: c = 1. (The Formulated Transformer, "Forward pass".)
struct Sum {
  /// c. Throws like that of Mean.
  template <class Real>
  Real divisor(const Real& sum_of_weights) const {
    Mean{}.divisor(sum_of_weights);
    return Real(1);
  }
  OneHot q() const { return {}; }  ///< q
};

}  // namespace tlm
