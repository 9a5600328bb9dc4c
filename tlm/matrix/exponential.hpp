// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>

#include <tlm/language.hpp>

namespace tlm {

using std::exp;

/// c₀ + c₁x + c₂x² + …, by Horner's rule.
template <std::same_as<float>... Coefficients>
[[gnu::always_inline]] inline float polynomial(float x, float c_0, Coefficients... more) {
  if constexpr (sizeof...(more) > 0) return c_0 + x * polynomial(x, more...);
  return c_0;
}

/// exp(x), for loops: of numbers for which no faster way is known, exp itself.
template <class Real>
Real exponential(const Real& x) {
  return exp(x);
}

/// exp(x) of a float, in steps that a loop takes for several numbers at once (with vector instructions), as there is neither a
/// branch nor a table:
///
///   exp(x) = 2ᵏ·exp(r)  with  r = x − k ln 2  and the integer k for which |r| ≤ (ln 2)/2,
///   exp(r) = Σ_{d ≤ 7} rᵈ/d! + ρ,  |ρ| < e^|r|·|r|⁸/8! < 2⁻²⁷.
///
/// On every 509th float (a test) it differs from exp(x) by less than 1.5 units in the last place, where that is a float, and is
/// 0, ∞ or NaN where std::exp is.
[[gnu::always_inline]] inline float exponential(float x) {
  x = std::min(std::max(x, -104.0f), 89.0f);  // beyond, k would not fit into the exponents below; NaN stays
  // So great a number has no digits behind the point: added to another it leaves, in its last bits, that one's integer.
  constexpr float great = 0x1.8p23f;
  const float shifted = x * 0x1.715476p+0f + great;  // x/(ln 2)
  const float k = shifted - great;
  const float r = (x - k * 0x1.63p-1f) + k * 0x1.bd0106p-13f;  // ln 2, of which the first part times k is exact
  const float exp_r = polynomial(r, 1.f, 1.f, 1 / 2.f, 1 / 6.f, 1 / 24.f, 1 / 120.f, 1 / 720.f, 1 / 5040.f);
  // 2ᵏ has an exponent only for −127 < k < 128, its two halves always have.
  const auto power = [](std::int32_t of_two) { return std::bit_cast<float>((of_two + 127) << 23); };
  const std::int32_t whole = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(great),
                     half = whole >> 1;
  return exp_r * power(half) * power(whole - half);
}

}  // namespace tlm
