// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tlm/base/refuse.hpp>
#include <tlm/base/xtensor.hpp>

/// How x = e is evaluated, if e is a function of vectors and numbers, entry by entry. It does what xt::noalias(x) = e
/// does, in one loop that is compiled faster. The bits of an entry depend on its operands alone, and not on its place:
/// the last entries, too few for a batch of xsimd, are computed as part of one. (xtensor computes them one by one, with
/// the C library's functions.)
namespace tlm {

namespace detail {

/// Several numbers at once: a batch of xsimd. Without xsimd, or without a batch of such numbers, it is one number.
template <class Real>
using SimdBatch = xt_simd::simd_type<Real>;
/// The number of numbers in it.
template <class Real>
inline constexpr std::size_t lanes = xt_simd::simd_traits<Real>::size;

/// Defined for an expression E that is evaluated in this way. read(e, j, count) is a batch that begins with the entries
/// j, …, j + count − 1 of e. fits(e, size) is true if e has `size` entries, or is a number.
template <class E, class Real>
struct AtOnce;
/// The same for what an expression holds of another one: a reference, or a copy.
template <class E, class Real>
using Of = AtOnce<std::remove_cvref_t<E>, Real>;

template <class Closure, class Real>
requires(std::same_as<typename xt::xscalar<Closure>::value_type, Real>) struct AtOnce<xt::xscalar<Closure>, Real> {
  static SimdBatch<Real> read(const xt::xscalar<Closure>& c, std::size_t, std::size_t) { return SimdBatch<Real>(c()); }
  static bool fits(const xt::xscalar<Closure>&, std::size_t) { return true; }
};
template <class E, class Real>
requires(xt::has_container_semantics<E>::value&& std::same_as<typename E::value_type, Real>) struct AtOnce<E, Real> {
  [[gnu::always_inline]] static SimdBatch<Real> read(const E& x, std::size_t j, std::size_t count) {
    if constexpr (lanes<Real> == 1) {
      return x.data()[j];
    } else {
      if (count == lanes<Real>) return SimdBatch<Real>::load_unaligned(x.data() + j);
      Real some[lanes<Real>]{};
      std::copy_n(x.data() + j, count, some);
      return SimdBatch<Real>::load_unaligned(some);
    }
  }
  static bool fits(const E& x, std::size_t size) { return x.size() == size; }
};
/// The same for a function f(e_1, …, e_k) of expressions, with the indices of its arguments.
template <class Expression, class Real, class Indices>
struct FunctionAtOnce;
/// The batches of its arguments are read, and f is applied to them.
template <class F, class... E, class Real, std::size_t... k>
struct FunctionAtOnce<xt::xfunction<F, E...>, Real, std::index_sequence<k...>> {
  [[gnu::always_inline]] static auto read(const xt::xfunction<F, E...>& f, std::size_t j, std::size_t count) {
    return f.functor().simd_apply(Of<E, Real>::read(std::get<k>(f.arguments()), j, count)...);
  }
  [[gnu::always_inline]] static bool fits(const xt::xfunction<F, E...>& f, std::size_t size) {
    return (Of<E, Real>::fits(std::get<k>(f.arguments()), size) && ...);
  }
};
template <class F, class... E, class Real>
requires requires(const F& f, const E&... e) { f.simd_apply(Of<E, Real>::read(e, 0, 0)...); }
struct AtOnce<xt::xfunction<F, E...>, Real>
    : FunctionAtOnce<xt::xfunction<F, E...>, Real, std::index_sequence_for<E...>> {};

/// take(batch, j, count) for all `size` entries of e, batch after batch. Throws std::invalid_argument if e has another
/// number of entries.
template <class E>
[[gnu::always_inline]] inline void for_each_batch(const E& e, std::size_t size, const auto& take) {
  using Real = typename E::value_type;
  if (!AtOnce<E, Real>::fits(e, size)) refuse<std::invalid_argument>({"this is no expression of ", size, " entries"});
  std::size_t j = 0;
  for (; j + lanes<Real> <= size; j += lanes<Real>) take(AtOnce<E, Real>::read(e, j, lanes<Real>), j, lanes<Real>);
  if (j < size) take(AtOnce<E, Real>::read(e, j, size - j), j, size - j);
}

/// What is evaluated at once.
template <class E>
concept EvaluatedAtOnce = requires {
  sizeof(AtOnce<E, typename E::value_type>);
};

/// The first `count` numbers of a batch.
template <class Real>
[[gnu::always_inline]] inline void store(const SimdBatch<Real>& batch, Real* to, std::size_t count) {
  if constexpr (lanes<Real> == 1) {
    *to = batch;
  } else {
    if (count == lanes<Real>) return batch.store_unaligned(to);
    Real some[lanes<Real>];
    batch.store_unaligned(some);
    std::copy_n(some, count, to);
  }
}

}  // namespace detail

/// A vector x that refers to entries side by side, such as a row of a matrix. It is an expression of xtensor, so that a
/// formula is written as it is printed,
///
///   auto z = Z.row(i);
///   z = (x - mean_of(x)) / s;
///
/// and means what it means in xtensor. `Adaptor` is xtensor's type for it. A copy refers to the same entries.
template <class Adaptor>
class Vector : public Adaptor {
  using Real = typename Adaptor::value_type;

 public:
  /// The vector that xt::adapt made.
  explicit Vector(Adaptor entries) : Adaptor(std::move(entries)) {}
  Vector(const Vector&) = default;

  /// x = e. Throws std::invalid_argument unless e has as many entries.
  template <class E>
  [[gnu::always_inline]] Vector& operator=(const xt::xexpression<E>& expression) {
    const E& e = expression.derived_cast();
    if constexpr (detail::EvaluatedAtOnce<E> && std::same_as<typename E::value_type, Real>)
      detail::for_each_batch(
          e, this->size(),
          [x = this->data()](const auto& batch, std::size_t j, std::size_t count)
              __attribute__((always_inline)) { detail::store<Real>(batch, x + j, count); });
    else
      Adaptor::operator=(expression);
    return *this;
  }
  Vector& operator=(const Vector& x) { return *this = static_cast<const xt::xexpression<Adaptor>&>(x); }

  /// x = x + e.
  template <class E>
  [[gnu::always_inline]] Vector& operator+=(const xt::xexpression<E>& e) {
    return *this = *this + e.derived_cast();
  }
  /// x = x − e.
  template <class E>
  [[gnu::always_inline]] Vector& operator-=(const xt::xexpression<E>& e) {
    return *this = *this - e.derived_cast();
  }
};

namespace detail {

/// The entries from `first` on, as many as the shape has: a vector of static shape.
template <std::size_t size, class Real>
auto as_vector(Real* first) {
  return Vector{xt::adapt(std::move(first), xt::xshape<size>{})};
}

/// `size` entries from `first` on, as a vector.
template <class Real>
auto as_vector(Real* first, std::size_t size) {
  return Vector{xt::adapt(std::move(first), size, xt::no_ownership())};
}

}  // namespace detail

}  // namespace tlm
