// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include <tlm/numbers/vector.hpp>

/// The functions of numbers that the layers use beside + − × ÷.
///
/// A layer knows nothing else of its arithmetic: no layer compares numbers or branches on a value. Another arithmetic
/// (a prime field, sets of positions) has its own overloads, found by argument-dependent lookup. So has a batch of
/// xsimd, which is several numbers at once.
namespace tlm {

using std::exp;
using std::log;
using std::sqrt;

namespace detail {

/// A floating-point number, or a batch of these.
template <class Real>
concept Floating = std::floating_point<Real> || std::same_as<Real, SimdBatch<typename Real::value_type>>;

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

/// The maximum of `count` ≥ 1 numbers.
template <std::floating_point Real>
Real maximum(const Real* numbers, std::size_t count) {
  Real greatest = numbers[0];
#pragma omp simd reduction(max : greatest)
  for (std::size_t j = 1; j < count; ++j) greatest = greatest < numbers[j] ? numbers[j] : greatest;
  return greatest;
}

/// The maximum entry of a vector.
template <class Adaptor>
auto max_of(const Vector<Adaptor>& x) {
  return maximum(x.data(), x.size());
}

/// Σ_j x_j over the entries of an expression. Floating-point numbers are added in the fastest order. (xt::sum adds one
/// after the other.)
template <detail::XtensorExpression E>
[[gnu::always_inline]] inline auto sum_of(const E& x) {
  using Real = typename E::value_type;
  Real sum(0);
  if constexpr (detail::EvaluatedAtOnce<E>) {
    constexpr std::size_t lanes = detail::lanes<Real>;
    detail::SimdBatch<Real> sums(Real(0));
    Real each[lanes];
    detail::for_each_batch(
        x, x.size(), [&](const auto& batch, std::size_t, std::size_t count) __attribute__((always_inline)) {
          if (count == lanes) {
            sums += batch;
          } else {
            detail::store<Real>(batch, each, count);
            for (std::size_t k = 0; k < count; ++k) sum += each[k];
          }
        });
    detail::store<Real>(sums, each, lanes);
    for (const Real& one : each) sum += one;
  } else {
    for (const auto& x_j : x) sum += x_j;
  }
  return sum;
}

/// (Σ_j x_j)/d of the d entries of an expression.
template <detail::XtensorExpression E>
[[gnu::always_inline]] inline auto mean_of(const E& x) {
  return sum_of(x) / typename E::value_type(x.size());
}

namespace detail {

/// The largest power of two that is at most max_j |x_j|, and at least 1; it is 1 if an entry is infinite.
///
/// A division by it keeps all digits, and then squares do not overflow. It is 1 in an arithmetic that does not
/// overflow.
template <class Adaptor>
auto scale_of([[maybe_unused]] const Vector<Adaptor>& x) {
  using Real = typename Adaptor::value_type;
  if constexpr (std::is_floating_point_v<Real>) {
    const Real* const numbers = x.data();
    Real greatest = 1;
#pragma omp simd reduction(max : greatest)
    for (std::size_t j = 0; j < x.size(); ++j)
      greatest = greatest < std::abs(numbers[j]) ? std::abs(numbers[j]) : greatest;
    return std::isfinite(greatest) ? std::ldexp(Real(1), std::ilogb(greatest)) : Real(1);
  } else {
    return Real(1);
  }
}

}  // namespace detail

/// a ÷ b, and 0 where b = 0: for the derivative of σ at a constant row (see Normalization).
template <std::floating_point Real>
constexpr Real quotient_or_zero(Real a, Real b) {
  return b == Real(0) ? Real(0) : a / b;
}

/// x₀ + x₁ + … + x₍count₋₁₎, where x is a function of the index.
template <class Terms>
auto sum_of(std::size_t count, Terms x) {
  std::remove_cvref_t<decltype(x(std::size_t{}))> total(0);
  for (std::size_t j = 0; j < count; ++j) total += x(j);
  return total;
}

}  // namespace tlm
