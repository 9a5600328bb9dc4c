// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <vector>

#include <tlm/checking/refusals.hpp>
#include <tlm/numbers/normal_distribution.hpp>
#include <tlm/numbers/rows.hpp>

namespace tlm::checking {

using detail::quotient_or_zero;

/// A dual number a + a′ε with ε² = 0, over another arithmetic: a function of a + ε carries its derivative along.
///
/// Running a layer over dual numbers gives its derivative J by rules that have nothing to do with the layer's pullback:
/// T(X + vε) = T(X) + (Jv)ε. Over the prime field the rules are those of formal differentiation (exp′ = exp,
/// sqrt′ = 1/(2·sqrt), …), so that ⟨Jv, w⟩ = ⟨v, Jᵀw⟩ holds or fails exactly.
template <class Real>
struct Dual : Refusals<Dual<Real>> {
  Real value{}, tangent{};

  Dual() = default;
  template <std::integral Integer>
  explicit constexpr Dual(Integer constant) : value(Real(constant)), tangent(Real(0)) {}
  /// A real constant.
  explicit constexpr Dual(double constant) : value(Real(constant)), tangent(Real(0)) {}
  /// What a function of doubles returns: refused.
  template <std::same_as<double> Double>
  constexpr Dual(Double) : value(Real(int(IsKnown<sizeof(Double) == 0>::value))), tangent(Real(0)) {}
  constexpr Dual(Real a, Real b) : value(a), tangent(b) {}

  friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.tangent + b.tangent}; }
  friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.tangent - b.tangent}; }
  friend Dual operator-(Dual a) { return {-a.value, -a.tangent}; }
  friend Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.tangent * b.value + a.value * b.tangent}; }
  friend Dual operator/(Dual a, Dual b) {
    const Real quotient = a.value / b.value;
    return {quotient, (a.tangent - quotient * b.tangent) / b.value};
  }

  friend Dual exp(Dual a) {
    const Real e = exp(a.value);
    return {e, e * a.tangent};
  }
  friend Dual log(Dual a) { return {log(a.value), a.tangent / a.value}; }
  friend Dual sqrt(Dual a) {
    const Real root = sqrt(a.value);
    return {root, quotient_or_zero(a.tangent, root + root)};
  }
  friend Dual relu(Dual a) { return {relu(a.value), relu_derivative(a.value) * a.tangent}; }
  friend Dual relu_derivative(Dual a) { return {relu_derivative(a.value), Real(0)}; }
  /// Φ′ = φ
  friend Dual normal_cdf(Dual a) { return {normal_cdf(a.value), normal_density(a.value) * a.tangent}; }
  /// φ′(x) = −x φ(x)
  friend Dual normal_density(Dual a) {
    const Real density = normal_density(a.value);
    return {density, -a.value * density * a.tangent};
  }
  /// tanh′ = 1 − tanh²
  friend Dual tanh(Dual a) {
    const Real t = tanh(a.value);
    return {t, (Real(1) - t * t) * a.tangent};
  }
  /// Softmax does not depend on the number that is subtracted from all its arguments, so any derivative of that number
  /// must cancel. Here it is the sum of all tangents, which is not a derivative of a maximum.
  friend Dual maximum(const Dual* numbers, std::size_t count) {
    std::vector<Real> values(count);
    Real sum(0);
    for (std::size_t j = 0; j < count; ++j) {
      values[j] = numbers[j].value;
      sum += numbers[j].tangent;
    }
    return {maximum(values.data(), count), sum};
  }
  friend Dual quotient_or_zero(Dual a, Dual b) {
    const Real quotient = quotient_or_zero(a.value, b.value);
    return {quotient, quotient_or_zero(a.tangent - quotient * b.tangent, b.value)};
  }
};

}  // namespace tlm::checking
