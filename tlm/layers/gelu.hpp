// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <numbers>
#include <string_view>
#include <utility>

#include <tlm/layers/entrywise.hpp>
#include <tlm/numbers/normal_distribution.hpp>

namespace tlm {

/// x ↦ x·Φ(x), where Φ(x) = (1 + erf(x/√2))/2 is the probability that a standard normal number is at most x. Since Φ′ =
/// φ with φ(x) = exp(−x²/2)/√(2π), by the product rule its derivative is Φ(x) + x·φ(x). (This Φ is not the final layer Φ.)
struct TimesNormalCdf {
  static auto value(const auto& x) { return x * normal_cdf(x); }
  static auto derivative(const auto& x) { return normal_cdf(x) + x * normal_density(x); }
};

/// x ↦ x·h(x), where h(x) = (1 + t)/2 with t = tanh u, u = c·(x + a·x³), c = √(2/π) and a = 0.044715. As tanh′ = 1 − tanh²,
/// h′(x) = (1 − t²)/2·u′ with u′ = c·(1 + 3a·x²). By the product rule the derivative is h(x) + x·h′(x).
struct TimesTanh {
  /// h(x) and h′(x)
  template <class Real>
  static std::pair<Real, Real> h(const Real& x) {
    const Real a = Real(44'715) / Real(1'000'000);
    const Real c = detail::real_constant<Real>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
    const Real cut = detail::cut_at_9(x);  // beyond, t = ±1 and 1 − t² = 0
    const Real t = tanh(c * (cut + a * cut * cut * cut)), u_slope = c * (Real(1) + Real(3) * a * cut * cut);
    return {(Real(1) + t) / Real(2), (Real(1) - t * t) / Real(2) * u_slope};
  }
  static auto value(const auto& x) { return x * h(x).first; }
  static auto derivative(const auto& x) {
    const auto [h_x, slope] = h(x);
    return h_x + x * slope;
  }
};

/// x ↦ x·Φ(x) for each entry x of X. Rowwise. (Hendrycks and Gimpel, 2016; the Wolfram article, "Feed Forward Network".)
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
