// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <tlm/numbers/vector.hpp>

/// The functions of a row of numbers: its maximum, sum and mean, and its softmax, for attention and for Softmax layers.
/// A Vector refers to its entries. So a function that takes one can change them.
namespace tlm {

namespace detail {

/// all ∘ x₀ ∘ x₁ ∘ … over the entries of an expression, where ∘ is associative and commutative, and all ∘ all = all: each
/// place of a batch begins with it, and takes every lanes-th entry of whole batches. Then halves are put together.
/// (xtensor's reducers go from entry to entry.)
template <XtensorExpression E, class Real = typename E::value_type>
inline Real combined(const E& x, std::type_identity_t<Real> all, const auto& combine) {
  if constexpr (EvaluatedAtOnce<E, Real>) {
    SimdBatch<Real> batches(all);
    Real each[lanes<Real>]{};
    for_each_batch(x, x.size(), [&](const auto& batch, std::size_t, std::size_t left) {
      if (left >= lanes<Real>) {
        batches = combine(batches, batch);
      } else {
        store<Real>(batch, each, left);
        for (std::size_t k = 0; k < lanes<Real> && k < left; ++k) all = combine(all, each[k]);
      }
    });
    store<Real>(batches, each, lanes<Real>);
    for (std::size_t half = lanes<Real> / 2; half > 0; half /= 2)
      for (std::size_t k = 0; k < half; ++k) each[k] = combine(each[k], each[k + half]);
    all = combine(all, each[0]);
  } else {
    for (const auto& x_j : x) all = combine(all, x_j);
  }
  return all;
}

/// The greater one of two numbers, in each place of a batch; a if b is NaN.
inline constexpr auto greater_one = []<class Real>(const Real& a, const Real& b) {
  if constexpr (std::floating_point<Real>)
    return a < b ? b : a;
  else
    return xt_simd::select(a < b, b, a);
};

}  // namespace detail

/// The maximum of `count` ≥ 1 numbers.
template <std::floating_point Real>
Real maximum(const Real* numbers, std::size_t count) {
  return detail::combined(detail::as_vector(numbers, count), numbers[0], detail::greater_one);
}

/// The maximum entry of a vector that has one.
template <class Adaptor>
auto max_of(const Vector<Adaptor>& x) {
  return maximum(x.data(), x.size());
}

/// Σ_j x_j over the entries of an expression. Floating-point numbers need not be added in their order.
template <detail::XtensorExpression E>
inline auto sum_of(const E& x) {
  return detail::combined(x, typename E::value_type(0), [](const auto& a, const auto& b) { return a + b; });
}

/// (Σ_j x_j)/d of the d entries of an expression.
template <detail::XtensorExpression E>
inline auto mean_of(const E& x) {
  return sum_of(x) / typename E::value_type(x.size());
}

/// x ← exp(x) / Σ_j exp(x_j) of at least one entry. The maximum is subtracted first: it cancels, and exp does not overflow.
template <class Adaptor>
void softmax(Vector<Adaptor> x) {
  x = xt::exp(x - max_of(x));
  x = x / sum_of(x);
}

/// With y = softmax(x): ∂y_j/∂x_k = y_j ([j = k] − y_k). A bar is a cotangent, so x̄_k = Σ_j ȳ_j·∂y_j/∂x_k is
///
///   x̄_k = y_k (ȳ_k − Σ_j y_j ȳ_j).
///
/// It replaces ȳ. (The NumPy notebook writes the product of ȳ and the matrix of the derivatives.)
template <class Y, class Cotangent>
void softmax_pullback(const Vector<Y>& y, Vector<Cotangent> y_bar) {
  auto x_bar = y_bar;  // it takes the place of ȳ
  x_bar = y * (y_bar - sum_of(y * y_bar));
}

}  // namespace tlm
