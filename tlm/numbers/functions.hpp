// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>

#include <tlm/numbers/vector.hpp>

/// The functions of numbers that the layers use beside + − × ÷.
///
/// A layer knows nothing else of its arithmetic. It compares no numbers and branches on no value, except where floating-point
/// numbers are rounded or overflow. Another arithmetic (a prime field, sets of positions) has its own overloads, found by
/// argument-dependent lookup. So has a batch of xsimd, which is several numbers at once.
namespace tlm {

using std::exp;
using std::log;
using std::sqrt;

namespace detail {

/// A floating-point number, or a batch of these.
template <class Real>
concept Floating = std::floating_point<Real> || std::same_as<Real, SimdBatch<typename Real::value_type>>;

/// a ÷ b, and 0 where b = 0: for the derivative of σ at a constant row (see Normalization).
template <std::floating_point Real>
constexpr Real quotient_or_zero(Real a, Real b) {
  return b == Real(0) ? Real(0) : a / b;
}

}  // namespace detail

/// a where the condition holds, otherwise b.
template <detail::Floating Real>
Real where(auto condition, Real a, Real b) {
  if constexpr (std::floating_point<Real>)
    return condition ? a : b;
  else
    return xt_simd::select(condition, a, b);
}

/// ReLU(x) = max(0, x). NaN stays NaN.
template <detail::Floating Real>
Real relu(Real x) {
  return tlm::where(x < Real(0), Real(0), x);
}

/// ReLU′(x) = 1 for x > 0, otherwise 0. At 0 there is no derivative, and the choice is 0. It is 0 at NaN, too: the
/// value shows the NaN.
template <detail::Floating Real>
Real relu_derivative(Real x) {
  return tlm::where(x > Real(0), Real(1), Real(0));
}

}  // namespace tlm
