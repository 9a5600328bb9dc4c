// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include <tlm/algebra/diagnosis.hpp>
#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/layer.hpp>
#include <tlm/matrix/sequences.hpp>

/// The third face of a layer: the rows that follow earlier ones. It is how a model decodes token by token.
namespace tlm {

namespace detail {

/// What T remembers of the rows before, and the number of their sequences. By default there are no rows before.
template <class T>
struct Remembered {
  typename T::State rows{};
  std::optional<std::size_t> count{};

  /// Throws std::invalid_argument if these are not as many sequences as before.
  void require(const Sequences& sequences) {
    if (!count) count = sequences.count();
    require_continuation(*count, sequences.count());
  }
};

}  // namespace detail

/// What extending T needs between two calls. For attention these are the keys and values so far; a rowwise T needs
/// nothing.
template <class T>
using State = std::conditional_t<Layer<T> && detail::Remembers<T>, detail::Remembered<T>, Nothing>;

/// The rows of T(X₀ continued by X) that belong to X, in this environment. `state` remembers X₀, and then also X. This
/// is possible because T(X|i) = T(X)|i: what was computed for X₀ stays valid. (A T that is independent of X returns all of
/// its rows at first, and then none.)
///
/// Throws std::invalid_argument if the number of sequences has changed, unless T is rowwise. An exception may leave `state`
/// half updated: some parts have moved on, others have not. So it must not be used any more.
template <class T, class... Environment>
CodomainOf<T> advance(const T& layer, State<T>& state, DomainOf<T> X, const Environment&... environment) {
  static_assert(detail::CanExtend<T, Environment...>::value);
  if constexpr (std::is_same_v<State<T>, Nothing>) {
    return apply(layer, std::move(X), environment...);
  } else {
    if constexpr (requires { X.sequences(); }) state.require(X.sequences());
    return detail::with_items<T>(
        [&](const auto&... item) -> CodomainOf<T> { return layer.extend(state.rows, std::move(X), item...); },
        environment...);
  }
}

/// The same rows. An exception leaves the state as it was: it is copied first.
template <class T, class... Environment>
CodomainOf<T> extend(const T& layer, State<T>& state, DomainOf<T> X, const Environment&... environment) {
  State<T> next = state;
  CodomainOf<T> Y = advance(layer, next, std::move(X), environment...);
  state = std::move(next);
  return Y;
}

/// T(X), computed as the rows that follow no rows. A leaf whose formula is its `extend` returns
/// from_the_beginning(*this, X), or from_the_beginning(*this, X, item). Throws what `extend` throws.
template <class T, class... Item>
CodomainOf<T> from_the_beginning(const T& layer, DomainOf<T> X, const Item&... item) {
  if constexpr (detail::Extends<T, Item...>) {
    typename T::State nothing_yet{};
    return layer.extend(nothing_yet, std::move(X), item...);
  } else {
    static_assert(detail::IsLayer<T>::value);
    static_assert(!Layer<T>,
                  "from_the_beginning(layer, X) is the extension of no rows: the layer has struct State { ... } and "
                  "codomain extend(State& state, const domain& X) const");
    return detail::stand_in<CodomainOf<T>>();
  }
}

}  // namespace tlm
