// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <numbers>
#include <type_traits>

#include <tlm/language.hpp>
#include <tlm/matrix/exponential.hpp>

/// The functions of numbers that the layers use beside + − × ÷.
///
/// They are all that a layer knows of its arithmetic: no layer compares numbers or branches on a value. Another
/// arithmetic (a prime field, sets of positions) brings its own overloads, found by argument-dependent lookup.
namespace tlm {

using std::cos;
using std::log;
using std::sin;
using std::sqrt;
using std::tanh;

/// ReLU(x) = max(0, x). NaN stays NaN.
template <std::floating_point Real>
constexpr Real relu(Real x) {
  return x < Real(0) ? Real(0) : x;
}

/// ReLU′(x) = 1 for x > 0, otherwise 0. At 0, where there is no derivative, the choice is 0, and so it is at NaN, which
/// shows in the value.
template <std::floating_point Real>
constexpr Real relu_derivative(Real x) {
  return x > Real(0) ? Real(1) : Real(0);
}

/// φ(x) = exp(−x²/2)/√(2π), the density of the standard normal distribution.
template <std::floating_point Real>
[[gnu::always_inline]] inline Real normal_density(Real x) {
  return exponential(-x * x / 2) * std::numbers::inv_sqrtpi_v<Real> / std::numbers::sqrt2_v<Real>;
}

/// Φ(x) = ∫_{−∞}^x φ = (1 + erf(x/√2))/2, its distribution function; here (erfc(−x/√2))/2, which is the same and as exact
/// for x far below 0.
template <std::floating_point Real>
Real normal_cdf(Real x) {
  return std::erfc(-x / std::numbers::sqrt2_v<Real>) / 2;
}

/// Φ(x) of a float, in steps that a loop takes for several numbers at once, as there is no branch: for a ≥ 0
///
///   Φ(−a) = φ(a)·M(a)  with Mills' ratio  M(a) = t·Q(t),  t = 1/(1 + 0.265a),
///
/// and for Q the polynomial of degree 8 that is nearest for a ≤ 14, which differs by less than 1.2·10⁻⁸ of M. The result
/// differs from the one above by less than 2.5·10⁻⁷, and for x < 0, where the rounding of x² shows, by less than 6·10⁻⁶ of it
/// (a test).
[[gnu::always_inline]] inline float normal_cdf(float x) {
  const float a = std::abs(x), t = 1 / (1 + 0.265f * a);
  const float Q = polynomial(t, 0.265054791f, 0.263814313f, 0.257432821f, 0.151184041f, 0.34579347f, -0.291672276f,
                             0.545976143f, -0.361525071f, 0.0772559103f);
  const float tail = normal_density(x) * t * Q;
  return x < 0 ? tail : 1 - tail;
}

/// The greatest of `count` ≥ 1 numbers.
template <std::floating_point Real>
Real maximum(const Real* numbers, std::size_t count) {
  Real greatest = numbers[0];
#pragma omp simd reduction(max : greatest)
  for (std::size_t j = 1; j < count; ++j) greatest = greatest < numbers[j] ? numbers[j] : greatest;
  return greatest;
}

/// The greatest power of two, from 1 on, that is not greater than all of `count` magnitudes |x_j|; 1 if one of them is
/// infinite. What is divided by it keeps its digits, and its squares do not overflow. It is 1 in an arithmetic that does not overflow.
template <class Real>
Real scale_of([[maybe_unused]] std::size_t count, [[maybe_unused]] const Real* x) {
  if constexpr (std::is_floating_point_v<Real>) {
    Real greatest = 1;
#pragma omp simd reduction(max : greatest)
    for (std::size_t j = 0; j < count; ++j) greatest = greatest < std::abs(x[j]) ? std::abs(x[j]) : greatest;
    return std::isfinite(greatest) ? std::ldexp(Real(1), std::ilogb(greatest)) : Real(1);
  } else {
    return Real(1);
  }
}

/// a ÷ b, and 0 where b = 0: for the derivative of σ at a constant row (see Normalization).
template <std::floating_point Real>
constexpr Real quotient_or_zero(Real a, Real b) {
  return b == Real(0) ? Real(0) : a / b;
}

/// x₀ + x₁ + … + x₍count₋₁₎, where x is a function of the index.
///
/// Floating-point terms may be added in any order: without this leave the compiler must not use vector instructions. (A
/// function that refers to where its numbers lie, instead of holding that, is asked for the place at each term.)
template <class Terms>
auto sum_of(std::size_t count, Terms x) {
  using Real = std::remove_cvref_t<decltype(x(std::size_t{}))>;
  Real total(0);
  if constexpr (std::is_floating_point_v<Real>) {
#pragma omp simd reduction(+ : total)
    for (std::size_t j = 0; j < count; ++j) total += x(j);
  } else {
    for (std::size_t j = 0; j < count; ++j) total += x(j);
  }
  return total;
}

/// The sum of so many numbers; for floating point in the order that is fastest. (Compiled once, and not for each length.)
template <class Real>
[[gnu::noinline]] Real total(std::size_t count, const Real* x) {
  return sum_of(count, [x](std::size_t j) { return x[j]; });
}
/// The same of a row's entries.
template <class Entries>
auto total(const Entries& x) {
  return total(std::size(x), std::data(x));
}

/// ⟨x, y⟩ = Σ_j x_j y_j of so many numbers, added like total.
template <class Real>
[[gnu::noinline]] Real inner_product(std::size_t count, const Real* x, const Real* y) {
  return sum_of(count, [x, y](std::size_t j) { return x[j] * y[j]; });
}
/// The same of two rows of as many entries.
template <class Entries, class Others>
auto inner_product(const Entries& x, const Others& y) {
  return inner_product(std::size(x), std::data(x), std::data(y));
}

}  // namespace tlm
