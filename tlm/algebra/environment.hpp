// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include <tlm/algebra/diagnosis.hpp>
#include <tlm/algebra/layer.hpp>

/// The environment: what some layers read beside their input.
///
/// It consists of items. Each is an object of its own type: a decoder's memory (memory.hpp), a weight that a model uses
/// in several places (tied.hpp), or the noise of training (noise.hpp). A function takes the items after X: f(X,
/// environment…). A formula takes all of them, and passes them on to its parts.
///
/// A leaf takes one item, or none. With `using reads = Item` it is a function f(X, item). With `using may_read = Item`
/// it is f(X, item) if there is such an item, and otherwise f(X).
///
/// A pullback adds up the gradients of the items, too. They are objects of the same types, and follow the gradient of the
/// weights: pullback(Y_bar, gradient, environment_gradient…). It copies what it needs of a memory, which ends before it,
/// and refers to a tied weight.
namespace tlm {

namespace detail {

/// The environment has an item of this type.
template <class Item, class... Environment>
inline constexpr bool is_provided = (std::is_same_v<Item, std::remove_const_t<Environment>> || ...);

/// The first item of this type.
template <class Item, class First, class... Rest>
auto& first_item(First& first, Rest&... rest) {
  if constexpr (std::is_same_v<Item, std::remove_const_t<First>>)
    return first;
  else
    return first_item<Item>(rest...);
}

/// The item that T reads. If several have its type, it is the first: the one that was provided last.
template <class T, class... Environment>
auto& read(Environment&... environment) {
  static_assert(FindsItem<T, std::remove_const_t<Environment>...>::value);
  if constexpr (is_provided<typename T::reads, Environment...>)
    return first_item<typename T::reads>(environment...);
  else
    return stand_in<typename T::reads&>();
}

/// action(item…) with the items that T takes. A formula takes all; a leaf takes the one that it reads, or none.
template <class T, class Action, class... Environment>
auto with_items(const Action& action, Environment&... environment) {
  if constexpr (rules::Formula<T>)
    return action(environment...);
  else if constexpr (Reads<T>)
    return action(read<T>(environment...));
  else if constexpr (requires { requires is_provided<typename T::may_read, Environment...>; })
    return action(first_item<typename T::may_read>(environment...));
  else
    return action();
}

}  // namespace detail

/// F(X), in this environment.
template <class F, class X_type, class... Environment>
CodomainOf<F> apply(const F& f, X_type&& X, const Environment&... environment) {
  static_assert(detail::IsLayer<F>::value);
  if constexpr (Layer<F>)
    return detail::with_items<F>(
        [&](const auto&... item) -> CodomainOf<F> { return f(std::forward<X_type>(X), item...); }, environment...);
  else
    return detail::stand_in<CodomainOf<F>>();
}

/// F's value and pullback at X, in this environment.
template <class F, class X_type, class... Environment>
auto differentiate(const F& f, X_type&& X, const Environment&... environment) {
  static_assert(detail::IsLayer<F>::value);
  if constexpr (Layer<F>)
    return detail::with_items<F>(
        [&](const auto&... item) { return f.value_and_pullback(std::forward<X_type>(X), item...); }, environment...);
  else
    return detail::stand_in<detail::InPlaceOf<F>>();
}

}  // namespace tlm
