// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>

#include <tlm/base/refuse.hpp>
#include <tlm/numbers/functions.hpp>

namespace tlm {

/// Objectives: what a loss makes of the weighted log probabilities ωy of its tokens. It is −Σωy / c with c of the batch's
/// Σω; y is the log probability of the token, or, if the objective is Smoothed, a mean of those of all.

/// The weighted mean: c = Σω. (Article, "Batch evaluation with loss weights"; the NumPy notebook's text.)
struct Mean {
  static constexpr bool of_a_part = false;
  template <class Real>
  Real operator()(const Real& sum_of_weights) const {
    return sum_of_weights;
  }
};

/// The weighted sum: c = 1. (The Formulated Transformer, "Forward pass".)
struct Sum {
  static constexpr bool of_a_part = false;
  template <class Real>
  Real operator()(const Real&) const {
    return Real(1);
  }
};

/// The share of a part of a batch in the mean of the whole: c = Σω of the whole. However a batch is split, the losses of
/// its parts add up to the loss of the whole, and so do their gradients.
template <class Real>
struct PartOf {
  static constexpr bool of_a_part = true;
  Real whole;  ///< Σω of the whole batch.

  Real operator()(const Real&) const { return whole; }
};

/// What a part of a batch has for an objective if Σω of the whole batch is known.
template <class Objective, class Real>
PartOf<Real> part_of(const Objective& objective, const Real& whole) {
  return {objective(whole)};
}

/// The distribution q = OneHot(x) on {0, …, s−1}, which gives token x the probability 1.
///
/// CrossEntropy(q, p) = −Σ_j q_j log p_j (The Formulated Transformer, "Cross Entropy") asks for two things of q: the mean
/// Σ_j q_j y_j of numbers y, and q itself, to be subtracted.
struct OneHot {
  /// Σ_j q_j y_j = y_x. The other terms are left out: where y_j is −∞, 0·y_j is not a number.
  auto mean(const auto& y, std::size_t x) const { return y[x]; }
  /// r ← r − cq.
  void subtract(const auto& c, auto r, std::size_t x) const { r[x] -= c; }
};

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

/// An objective whose tokens are to be said with the probability 1 − ε + ε/s only, and every other one with ε/s:
/// −Σω·(Σ_j q_j y_j) / c with the c of the objective and q = SmoothedOneHot. Smoothed<Mean>{.epsilon = 0.1}.
///
/// The loss is then not less than the entropy of q, however good the model. To compare models, take the objective itself.
template <class Objective>
struct Smoothed {
  static constexpr bool of_a_part = Objective::of_a_part;
  double epsilon = 0.1;  ///< 0 < ε < 1
  Objective objective{};

  template <class Real>
  Real operator()(const Real& sum_of_weights) const {
    return objective(sum_of_weights);
  }

  friend SmoothedOneHot wanted_distribution(const Smoothed& smoothed) {
    if (!(smoothed.epsilon > 0 && smoothed.epsilon < 1))
      refuse<std::invalid_argument>(
          {"epsilon of Smoothed must be greater than 0 and less than 1, not ", smoothed.epsilon});
    return {smoothed.epsilon};
  }
  template <class Real>
  friend Smoothed<PartOf<Real>> part_of(const Smoothed& smoothed, const Real& whole) {
    return {smoothed.epsilon, part_of(smoothed.objective, whole)};
  }
};

/// The distribution that an objective wants instead of each token. Of one that is Smoothed it throws std::invalid_argument
/// for an ε that is out of its range.
template <class Objective>
OneHot wanted_distribution(const Objective&) {
  return {};
}

}  // namespace tlm
