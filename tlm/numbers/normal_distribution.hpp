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

/// x, cut at ±9. There erf(x) is ±1 to the last digit, and so is the tanh of TanhGELU, of ±33. Of a very large x a
/// vectorised erf may be NaN, and (1 − t²)·u′ of TanhGELU would be 0·∞. In an arithmetic without an order it is x itself.
template <class Real>
Real cut_at_9(Real x) {
  if constexpr (Floating<Real>) return tlm::where(x > Real(9), Real(9), tlm::where(x < Real(-9), Real(-9), x));
  return x;
}

}  // namespace detail

/// φ(x) = exp(−x²/2)/√(2π), the density of the standard normal distribution.
template <detail::Floating Real>
Real normal_density(Real x) {
  return exp(-x * x / Real(2)) * detail::real_constant<Real>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
}

/// Φ(x) = ∫_{−∞}^x φ = (1 + erf(x/√2))/2, its distribution function.
template <detail::Floating Real>
Real normal_cdf(Real x) {
  return (Real(1) + erf(detail::cut_at_9(x / detail::real_constant<Real>(std::numbers::sqrt2)))) / Real(2);
}

}  // namespace tlm
