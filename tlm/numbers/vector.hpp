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

/// How x = e is evaluated, for an e that takes vectors and numbers apart entry by entry: as xt::noalias(x) = e in one loop, of
/// which less is compiled. And the bits of an entry depend on its operands alone, not on its place: the last entries, too few for
/// a batch of xsimd, are computed as part of one. (xtensor computes them one by one, by the C library's functions.)
namespace tlm {

namespace detail {

/// Several numbers at once: a batch of xsimd. Where there is no xsimd, or no batch of such numbers: one number.
template <class Real>
using SimdBatch = xt_simd::simd_type<Real>;
/// How many numbers that are.
template <class Real>
inline constexpr std::size_t lanes = xt_simd::simd_traits<Real>::size;

/// Defined for an expression E that is evaluated so: read(e, j, count) is a batch that begins with the entries j, …, j + count − 1
/// of e, and fits(e, size) whether e has so many entries, or is a number.
template <class E, class Real>
struct AtOnce;
/// The same of what an expression holds of another: a reference, or a copy.
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
template <class Expression, class Real, class Indices>
struct FunctionAtOnce;
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

/// take(batch, j, count) for all `size` entries of e, batch after batch. Throws std::invalid_argument if e has not so many.
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

/// A vector x whose entries lie elsewhere, side by side: a row of a matrix. It is an expression of xtensor, so that a formula is
/// written as it is printed,
///
///   auto z = Z.row(i);
///   z = (x - mean_of(x)) / s;
///
/// and means what xtensor says that it means. `Adaptor` is xtensor's type for it. A copy refers to the same entries.
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

/// The entries from `first` on, as many as the shape says: a vector of static shape.
template <std::size_t size, class Real>
auto as_vector(Real* first) {
  return Vector{xt::adapt(std::move(first), xt::xshape<size>{})};
}

/// So many entries from `first` on, as a vector.
template <class Real>
auto as_vector(Real* first, std::size_t size) {
  return Vector{xt::adapt(std::move(first), size, xt::no_ownership())};
}

}  // namespace detail

}  // namespace tlm
