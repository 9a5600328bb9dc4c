// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/language.hpp>

namespace tlm {

/// Objectives: what a loss makes of the weighted log probabilities ωy of its tokens. It is −Σωy / c with c of the batch's
/// Σω.

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

}  // namespace tlm
