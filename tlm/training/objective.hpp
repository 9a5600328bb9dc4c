// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>

#include <tlm/base/refuse.hpp>
#include <tlm/numbers/functions.hpp>

/// Objectives: what is minimized. With y_kj the log probability that a model gives to token j in row k, a loss is
///
///   −Σ_k ω_k·(Σ_j q_kj·y_kj) / c.
///
/// An objective chooses the divisor c, by divisor(Σω), and the distribution q_k that is wanted in row k, by q(). It is
/// OneHot(x_k), with which Σ_j q_kj·y_kj is y_k, the log probability of token x_k; or a smoothed one.
namespace tlm {

/// The distribution q = OneHot(x) on {0, …, s−1}, which gives token x the probability 1.
struct OneHot {
  /// Σ_j q_j y_j = y_x. The other terms are left out: where y_j is −∞, 0·y_j is not a number.
  auto mean(const auto& y, std::size_t x) const { return y[x]; }
  /// r ← r − cq.
  void subtract(const auto& c, auto r, std::size_t x) const { r[x] -= c; }
};

/// Σω, by which a mean is divided. Throws std::invalid_argument if it is 0.
template <class Real>
const Real& require_a_weight(const Real& sum_of_weights) {
  if (sum_of_weights == Real(0))
    refuse<std::invalid_argument>({"the loss weights of a batch sum to 0: there is nothing to average"});
  return sum_of_weights;
}

/// The weighted mean: c = Σω. (Article, "Batch evaluation with loss weights"; the NumPy notebook's text.)
struct Mean {
  /// c. Throws like require_a_weight.
  template <class Real>
  Real divisor(const Real& sum_of_weights) const {
    return require_a_weight(sum_of_weights);
  }
  OneHot q() const { return {}; }
};

/// The weighted sum: c = 1. (The Formulated Transformer, "Forward pass".)
struct Sum {
  /// c. Throws like require_a_weight.
  template <class Real>
  Real divisor(const Real& sum_of_weights) const {
    require_a_weight(sum_of_weights);
    return Real(1);
  }
  OneHot q() const { return {}; }
};

/// A divisor c that is known before: for a part of a batch, that of the whole. However a batch is split, the losses of its
/// parts, each divided by the c of the whole, add up to the loss of the whole; so do their gradients.
template <class Real, class Distribution = OneHot>
struct DividedBy {
  Real c;
  Distribution wanted{};  ///< q

  Real divisor(const Real&) const { return c; }
  Distribution q() const { return wanted; }
};
template <class Real, class Distribution>
DividedBy(Real, Distribution) -> DividedBy<Real, Distribution>;

/// The distribution q = (1−ε)·OneHot(x) + ε/s on {0, …, s−1}: label smoothing. (Szegedy et al., 2016, section 7; Attention Is
/// All You Need, section 5.4, with ε = 0.1.)
struct SmoothedOneHot {
  double epsilon;

  /// Σ_j q_j y_j = (1−ε)·y_x + ε/s·Σ_j y_j.
  template <class Row>
  auto mean(const Row& y, std::size_t x) const {
    using Real = typename Row::value_type;
    return (Real(1) - Real(epsilon)) * y[x] + Real(epsilon) / Real(y.size()) * sum_of(y);
  }
  /// r ← r − cq.
  template <class Row>
  void subtract(const typename Row::value_type& c, Row r, std::size_t x) const {
    using Real = typename Row::value_type;
    r = r - c * (Real(epsilon) / Real(r.size()));
    r[x] -= c * (Real(1) - Real(epsilon));
  }
};

/// An objective with q = SmoothedOneHot, and the c of another one: Smoothed<Mean>{.epsilon = 0.1}.
///
/// The loss is then at least the entropy of q, however good the model. To compare models, take the objective itself.
template <class Objective>
struct Smoothed {
  double epsilon = 0.1;  ///< 0 < ε < 1
  Objective objective{};

  template <class Real>
  Real divisor(const Real& sum_of_weights) const {
    return objective.divisor(sum_of_weights);
  }
  /// Throws std::invalid_argument for an ε that is out of its range.
  SmoothedOneHot q() const {
    if (!(epsilon > 0 && epsilon < 1))
      refuse<std::invalid_argument>({"epsilon of Smoothed must be greater than 0 and less than 1, not ", epsilon});
    return {epsilon};
  }
};

}  // namespace tlm
