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

/// How x = e and x += e are evaluated, if e is a function of vectors and numbers, entry by entry: as by xt::noalias, but
/// it compiles faster, and the bits of an entry do not depend on its place. (xtensor computes the last ones one by one.)
namespace tlm::detail {

/// Several numbers at once: a batch of xsimd. Without xsimd, or without a batch of such numbers, it is one number.
template <class Real>
using SimdBatch = xt_simd::simd_type<Real>;
/// The number of numbers in it.
template <class Real>
inline constexpr std::size_t lanes = xt_simd::simd_traits<Real>::size;

/// Defined for an expression E that is evaluated in this way. read(e, j, left) is the batch of the entries of e from j on,
/// of which `left` are left. fits(e, size) is true if e has `size` entries, or is a number.
template <class E, class Real>
struct AtOnce;

template <class Closure, class Real>
requires(std::same_as<typename xt::xscalar<Closure>::value_type, Real>) struct AtOnce<xt::xscalar<Closure>, Real> {
  static SimdBatch<Real> read(const xt::xscalar<Closure>& c, std::size_t, std::size_t) { return SimdBatch<Real>(c()); }
  static bool fits(const xt::xscalar<Closure>&, std::size_t) { return true; }
};
template <class E, class Real>
requires(xt::has_container_semantics<E>::value&& std::same_as<typename E::value_type, Real> && !std::integral<Real> &&
         E::static_layout == xt::layout_type::row_major) struct AtOnce<E, Real> {
  static SimdBatch<Real> read(const E& x, std::size_t j, std::size_t left) {
    if constexpr (lanes<Real> == 1) {
      return x.data()[j];
    } else {
      if (left >= lanes<Real>) return SimdBatch<Real>::load_unaligned(x.data() + j);
      Real some[lanes<Real>]{};
      std::copy_n(x.data() + j, left, some);
      return SimdBatch<Real>::load_unaligned(some);
    }
  }
  static bool fits(const E& x, std::size_t size) { return x.size() == size; }
};
/// The same for f(e_1, …, e_k), with the indices of its arguments: their batches are read, and f is applied to them.
template <class Real, class Indices, class F, class... E>
struct OfFunction;
template <class Real, std::size_t... k, class F, class... E>
struct OfFunction<Real, std::index_sequence<k...>, F, E...> {
  [[gnu::always_inline]] static auto read(const xt::xfunction<F, E...>& f, std::size_t j, std::size_t left) {
    return f.functor().simd_apply(AtOnce<std::remove_cvref_t<E>, Real>::read(std::get<k>(f.arguments()), j, left)...);
  }
  static bool fits(const xt::xfunction<F, E...>& f, std::size_t size) {
    return (AtOnce<std::remove_cvref_t<E>, Real>::fits(std::get<k>(f.arguments()), size) && ...);
  }
};
template <class F, class... E, class Real>
requires requires(const xt::xfunction<F, E...>& f, const E&... e) {
  f.functor().simd_apply(AtOnce<std::remove_cvref_t<E>, Real>::read(e, 0, 0)...);
  std::get<0>(f.arguments());
}
struct AtOnce<xt::xfunction<F, E...>, Real> : OfFunction<Real, std::index_sequence_for<E...>, F, E...> {};

/// take(batch, j, left) for all `size` entries of e, batch by batch. Throws std::invalid_argument for another size.
/// (Whole batches and the rest are one code, so that a compiler that contracts a·b + c does so in both or in none.)
template <class E>
[[gnu::always_inline]] inline void for_each_batch(const E& e, std::size_t size, const auto& take) {
  using Real = typename E::value_type;
  if (!AtOnce<E, Real>::fits(e, size)) refuse<std::invalid_argument>({"this is no expression of ", size, " entries"});
  for (std::size_t j = 0; j < size; j += lanes<Real>) take(AtOnce<E, Real>::read(e, j, size - j), j, size - j);
}

}  // namespace tlm::detail
