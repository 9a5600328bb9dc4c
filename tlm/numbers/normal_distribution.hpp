// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <numbers>

#include <tlm/numbers/functions.hpp>

/// The standard normal distribution, and tanh: functions of numbers for GELU.
namespace tlm {

using std::erf;
using std::tanh;

namespace detail {

/// A real constant as a number of this type, or as a batch of these.
template <class Real>
Real real_constant(double c) {
  if constexpr (requires { typename Real::value_type; })
    return Real(typename Real::value_type(c));
  else
    return Real(c);
}

}  // namespace detail

/// φ(x) = exp(−x²/2)/√(2π), the density of the standard normal distribution.
template <detail::Floating Real>
Real normal_density(Real x) {
  return exp(-x * x / Real(2)) * detail::real_constant<Real>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
}

/// Φ(x) = ∫_{−∞}^x φ = (1 + erf(x/√2))/2, its distribution function. Beyond ±9 erf is ±1 to the last digit, so
/// its argument u = x/√2 is cut there: a vectorised erf of a very large number may be NaN.
template <detail::Floating Real>
Real normal_cdf(Real x) {
  Real u = x / detail::real_constant<Real>(std::numbers::sqrt2);
  u = tlm::where(u > Real(9), Real(9), tlm::where(u < Real(-9), Real(-9), u));
  return (Real(1) + erf(u)) / Real(2);
}

}  // namespace tlm
