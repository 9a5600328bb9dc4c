// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <numbers>
#include <string_view>

#include <tlm/layers/entrywise.hpp>
#include <tlm/numbers/normal_distribution.hpp>

namespace tlm {

/// x ↦ x·Φ(x), where Φ(x) = (1 + erf(x/√2))/2 is the probability that a standard normal number is at most x. Since Φ′ =
/// φ with φ(x) = exp(−x²/2)/√(2π), by the product rule its derivative is Φ(x) + x·φ(x). (This Φ is not the final layer Φ.)
struct TimesNormalCdf {
  static auto value(const auto& x) { return x * normal_cdf(x); }
  static auto derivative(const auto& x) { return normal_cdf(x) + x * normal_density(x); }
};

/// x ↦ x·(1 + tanh u)/2 with u = c·(x + a·x³), c = √(2/π) and a = 0.044715. As tanh′ = 1 − tanh², its derivative is
/// (1 + tanh u)/2 + x·(1 − tanh² u)/2·u′ with u′ = c·(1 + 3a·x²).
struct TimesTanh {
  template <class Real>
  static Real value(const Real& x) {
    return x * (Real(1) + tanh(u(x))) / Real(2);
  }
  template <class Real>
  static Real derivative(const Real& x) {
    const Real t = tanh(u(x));
    return (Real(1) + t + x * (Real(1) - t * t) * c<Real>() * (Real(1) + Real(3) * a<Real>() * x * x)) / Real(2);
  }

 private:
  template <class Real>
  static Real a() {
    return Real(44'715) / Real(1'000'000);
  }
  template <class Real>
  static Real c() {
    return detail::real_constant<Real>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  }
  template <class Real>
  static Real u(const Real& x) {
    return c<Real>() * (x + a<Real>() * x * x * x);
  }
};

/// GELU(X) = x·Φ(x), entry by entry. Rowwise. (Hendrycks and Gimpel, 2016; the Wolfram article, "Feed Forward Network".)
template <std::size_t cols, class Real = float>
struct GELU : Entrywise<TimesNormalCdf, cols, Real> {
  static constexpr std::string_view symbol = "GELU";
};

/// GELU with tanh. A test finds that it differs from GELU by less than 0.0005 at each multiple of 1/64 from −8 to 8.
/// Rowwise. (The same paper.)
template <std::size_t cols, class Real = float>
struct TanhGELU : Entrywise<TimesTanh, cols, Real> {
  static constexpr std::string_view symbol = "GELU_tanh";
};

}  // namespace tlm
