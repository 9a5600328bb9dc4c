// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>

#include <tlm/base/refuse.hpp>
#include <tlm/numbers/rows.hpp>

/// Label smoothing. (Szegedy et al., 2016, section 7; Attention Is All You Need, section 5.4, with ε = 0.1.)
namespace tlm {

/// The distribution q = (1−ε)·OneHot(x) + ε/s on {0, …, s−1}.
struct SmoothedOneHot {
  double epsilon;

  /// Σ_v q_v y_v = (1−ε)·y_x + ε/s·Σ_v y_v.
  template <class Row>
  auto expectation(const Row& y, std::size_t x) const {
    using Real = typename Row::value_type;
    return (Real(1) - Real(epsilon)) * y[x] + Real(epsilon) / Real(y.size()) * sum_of(y);
  }
  /// r ← r − share·q.
  template <class Row>
  void subtract(const typename Row::value_type& share, Row r, std::size_t x) const {
    using Real = typename Row::value_type;
    r = r - share * (Real(epsilon) / Real(r.size()));
    r[x] -= share * (Real(1) - Real(epsilon));
  }
};

/// An objective with q = SmoothedOneHot, and the c of another objective: Smoothed<Mean>{.epsilon = 0.1}.
///
/// With Mean the loss is then at least the entropy of q, however good the model is. To compare models, use the objective
/// without smoothing.
template <class Objective>
struct Smoothed {
  double epsilon = 0.1;  ///< 0 < ε < 1
  Objective objective{};

  /// The c of the other objective.
  auto divisor(const auto& sum_of_weights) const { return objective.divisor(sum_of_weights); }
  /// Throws std::invalid_argument for an ε that is out of its range.
  SmoothedOneHot q() const {
    if (!(epsilon > 0 && epsilon < 1))
      refuse<std::invalid_argument>({"epsilon of Smoothed must be greater than 0 and less than 1, not ", epsilon});
    return {epsilon};
  }
};

}  // namespace tlm
