// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <utility>

#include <tlm/numbers/evaluation.hpp>

namespace tlm {

namespace detail {

/// An expression of numbers of type Real that AtOnce evaluates, batch by batch.
template <class E, class Real>
concept EvaluatedAtOnce = std::same_as<typename E::value_type, Real> && sizeof(AtOnce<E, Real>) > 0;

/// The numbers of a batch, or the first `left` of them.
template <class Real>
inline void store(const SimdBatch<Real>& batch, Real* to, std::size_t left) {
  if constexpr (lanes<Real> == 1) {
    *to = batch;
  } else {
    if (left >= lanes<Real>) return batch.store_unaligned(to);
    Real some[lanes<Real>];
    batch.store_unaligned(some);
    std::copy_n(some, left, to);
  }
}

}  // namespace detail

/// A vector x that refers to entries side by side, such as a row of a matrix. It is an expression of xtensor, so that a
/// formula is written as it is printed,
///
///   auto z = Z.row(i);
///   z = (x - mean_of(x)) / s;
///
/// and is computed entry by entry, z_j from x_j. So it may read z at the same place, and at no other. `Adaptor` is
/// xtensor's type for it. A copy refers to the same entries.
template <class Adaptor>
class Vector : public Adaptor {
  using Real = typename Adaptor::value_type;

 public:
  /// The vector that xt::adapt made.
  explicit Vector(Adaptor entries) : Adaptor(std::move(entries)) {}
  Vector(const Vector&) = default;

  /// x = e. Throws std::invalid_argument for a vector e of another size.
  template <class E>
  [[gnu::always_inline]] Vector& operator=(const xt::xexpression<E>& expression) {
    const E& e = expression.derived_cast();
    if constexpr (detail::EvaluatedAtOnce<E, Real>) {
      detail::for_each_batch(e, this->size(), [x = this->data()](const auto& batch, std::size_t j, std::size_t left) {
        detail::store<Real>(batch, x + j, left);
      });
    } else {
      if (e.dimension() != 1 || e.size() != this->size())
        refuse<std::invalid_argument>({"this is no expression of ", this->size(), " entries"});
      const xt::xtensor<typename E::value_type, 1> value = e;  // all of it, before an entry is written
      std::transform(value.begin(), value.end(), this->data(), [](const auto& v) { return static_cast<Real>(v); });
    }
    return *this;
  }
  Vector& operator=(const Vector& x) { return *this = static_cast<const xt::xexpression<Adaptor>&>(x); }

  /// x = x + e, and x = x − e.
  Vector& operator+=(const auto& e) { return *this = *this + e; }
  Vector& operator-=(const auto& e) { return *this = *this - e; }
  /// If AtOnce evaluates e: without an expression x + e, and inlined, as for a short row a call takes as long as the sum.
  template <detail::EvaluatedAtOnce<Real> E>
  [[gnu::always_inline]] Vector& operator+=(const E& e) {
    detail::for_each_batch(e, this->size(), [this](const auto& batch, std::size_t j, std::size_t left) {
      detail::store<Real>(detail::AtOnce<Vector, Real>::read(*this, j, left) + batch, this->data() + j, left);
    });
    return *this;
  }
};

namespace detail {

/// `size` entries from `first` on, as a vector of static shape.
template <std::size_t size, class Real>
auto as_vector(Real* first) {
  return Vector{xt::adapt(std::move(first), xt::xshape<size>{})};
}

/// `size` entries from `first` on, as a vector.
template <class Real>
auto as_vector(Real* first, std::size_t size) {
  return Vector{xt::adapt(std::move(first), size, xt::no_ownership())};
}

/// True for a Vector, and for a function of expressions of which one is.
template <class E>
inline constexpr bool of_vectors = false;
template <class Adaptor>
inline constexpr bool of_vectors<Vector<Adaptor>> = true;
template <class F, class... E>
inline constexpr bool of_vectors<xt::xfunction<F, E...>> = (of_vectors<std::remove_cvref_t<E>> || ...);

}  // namespace detail

}  // namespace tlm

namespace xt {

/// xtensor gives each expression room for a shared pointer to itself, which xt::share needs. A formula of rows is computed
/// where it is written, and nobody shares it. Without the room there is less to compile.
template <class F, class... E>
requires(tlm::detail::of_vectors<xfunction<F, E...>>) class xsharable_expression<xfunction<F, E...>>
    : public xexpression<xfunction<F, E...>> {
};

}  // namespace xt
