// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <tlm/algebra/layer.hpp>

/// How a layer is applied, differentiated and extended in an environment: what some layers read beside their input.
///
/// A decoder's memory and a weight that a model uses in several places are entries of the environment, each an object
/// of a type of its own. What is made of other layers passes the entries on as they are, f(X, entry…); a leaf that reads
/// one says so, `using reads = Entry`, and takes it behind X; one that can do without says `using may_read = Entry`, and is a
/// function of X and of X with the entry; all other leaves stay functions of X alone. What pullbacks add up for the entries
/// goes to objects of the same types, which stand beside the gradient: pullback(Y_bar, gradient, entry_gradient…).
namespace tlm {

/// F(X), with the entries that F takes. (Here and below: where there are none, nothing is chosen, and fewer functions are compiled.)
template <class F, class Domain, class... Entries>
CodomainOf<F> apply(const F& f, Domain&& X, const Entries&... entries) {
  static_assert(IsLayer<F>::value && FindsEntries<reads_in_vain<F, Entries...>()>::value);
  if constexpr (!complete<F> || !finds_entries<F, Entries...>)
    return stand_in<CodomainOf<F>>();
  else if constexpr (sizeof...(Entries) == 0)
    return f(std::forward<Domain>(X));
  else
    return with_entries<F>([&](const auto&... taken) -> CodomainOf<F> { return f(std::forward<Domain>(X), taken...); },
                           entries...);
}

/// F's value and pullback at X, with the entries that F takes.
template <class F, class Domain, class... Entries>
auto differentiate(const F& f, Domain&& X, const Entries&... entries) {
  static_assert(IsLayer<F>::value && FindsEntries<reads_in_vain<F, Entries...>()>::value);
  if constexpr (!complete<F> || !finds_entries<F, Entries...>)
    return stand_in_with_pullback<F>();
  else if constexpr (sizeof...(Entries) == 0)
    return f.value_and_pullback(std::forward<Domain>(X));
  else
    return with_entries<F>(
        [&](const auto&... taken) { return f.value_and_pullback(std::forward<Domain>(X), taken...); }, entries...);
}

/// The condition under which a layer can be extended row by row. A failure shows the layer.
template <class T>
struct CanExtend {
  static constexpr bool value = true;  // If not, the next line says so: once.
  static_assert(Extensible<T> || !complete<T>,
                "this is not autoregressive by type: rows that follow would change what was computed for earlier ones");
};

class Noise;  // noise.hpp

/// The condition under which a layer is extended in an environment: claims are about layers without noise.
template <class... Entries>
struct ExtendsWithoutNoise {
  static constexpr bool value = true;  // If not, the next line says so: once.
  static_assert((!std::is_same_v<Entries, Noise> && ...),
                "what is extended takes no noise: what is derived of a layer is derived of it without noise");
};

/// The rows of T(X₀ continued by X) that belong to X, where `state` remembers X₀ and from now on also X, with the
/// entries that T takes. T(X|i) = T(X)|i is what makes this possible: what was computed for X₀ stands. (And what does not
/// depend on X at all stands the more.)
///
/// Throws std::invalid_argument for other sequences than those in `state`. What throws may leave the state anyhow: some parts
/// have moved, others not. So composites extend their parts, and so may everyone whose state ends with the exception.
template <class T, class... Entries>
CodomainOf<T> advance(const T& layer, State<T>& state, DomainOf<T> X, const Entries&... entries) {
  static_assert(IsLayer<T>::value && CanExtend<T>::value && FindsEntries<reads_in_vain<T, Entries...>()>::value);
  static_assert(ExtendsWithoutNoise<Entries...>::value);
  if constexpr (!Extensible<T> || !complete<T> || !finds_entries<T, Entries...>)
    return stand_in<CodomainOf<T>>();
  else if constexpr (rowwise<T>)
    return apply(layer, std::move(X), entries...);
  else {
    if constexpr (requires { X.sequences(); }) state.require(X.sequences());
    if constexpr (sizeof...(Entries) == 0)
      return layer.extend(state.rows, std::move(X));
    else
      return with_entries<T>(
          [&](const auto&... taken) -> CodomainOf<T> { return layer.extend(state.rows, std::move(X), taken...); },
          entries...);
  }
}

/// The same, where what is refused leaves the state as it was: at the price of a copy of it.
template <class T, class... Entries>
CodomainOf<T> extend(const T& layer, State<T>& state, DomainOf<T> X, const Entries&... entries) {
  State<T> next = state;
  CodomainOf<T> Y = advance(layer, next, std::move(X), entries...);
  state = std::move(next);
  return Y;
}

/// T is a layer: it has its first two faces, and its weights can be visited.
template <class T>
concept Layer = lacks<T>()
== Lacks::nothing&& requires(const T& f, typename T::domain X) {
  { f.value_and_pullback(X).value } -> std::convertible_to<typename T::codomain>;
};

}  // namespace tlm
