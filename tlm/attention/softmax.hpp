// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <tlm/matrix/numbers.hpp>

/// The softmax of some numbers, for attention and for Softmax layers.
namespace tlm {

/// x_j ← exp(x_j) / Σ_k exp(x_k), over `count` numbers. The greatest of them is subtracted first, which cancels and keeps
/// exp from overflowing.
template <class Real>
void softmax(Real* x, std::size_t count) {
  const Real greatest = maximum(x, count);
  for (std::size_t j = 0; j < count; ++j) x[j] = exponential(x[j] - greatest);
  const Real sum = sum_of(count, [x](std::size_t j) { return x[j]; });
  for (std::size_t j = 0; j < count; ++j) x[j] = x[j] / sum;
}

/// x̄_j = y_j (ȳ_j − Σ_k y_k ȳ_k), as y = softmax(x) has ∂y_j/∂x_k = y_j ([j = k] − y_k). Here x̄ may be ȳ.
template <class Real>
void softmax_pullback(const Real* y, const Real* y_bar, Real* x_bar, std::size_t count) {
  const Real mean = sum_of(count, [y, y_bar](std::size_t j) { return y[j] * y_bar[j]; });
  for (std::size_t j = 0; j < count; ++j) x_bar[j] = y[j] * (y_bar[j] - mean);
}

}  // namespace tlm
