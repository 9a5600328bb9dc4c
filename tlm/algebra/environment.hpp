#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <tlm/algebra/layer.hpp>

/// The environment: what some layers read beside their input.
///
/// A decoder's memory and a weight that a model uses in several places are entries of the environment, each an object
/// of a type of its own. Combinators pass the entries on as they are, f(X, entry…), and only the layers that read one
/// have a parameter for them; all other layers stay functions of X alone. What pullbacks add up for the entries goes to
/// objects of the same types, which stand beside the gradient: pullback(dY, gradient, entry_gradient…).
namespace tlm {

/// The condition under which a layer finds the entry that it reads. A failure shows which one is missing.
template <class Entry, class... Entries>
struct EnvironmentHas {
  static constexpr bool value = (std::is_same_v<Entry, Entries> || ...);
  static_assert(
      value,
      "this layer reads an entry of the environment that nobody provides in its shape: a memory comes from an "
      "EncoderDecoder, a tied weight from a Tied");
};

/// The entry of this type.
template <class Entry, class... Entries>
Entry& read(Entries&... entries) {
  if constexpr (EnvironmentHas<std::remove_const_t<Entry>, std::remove_const_t<Entries>...>::value)
    return std::get<Entry&>(std::tie(entries...));
}

/// Whether F takes these entries.
template <class F, class... Entries>
inline constexpr bool reads_environment =
    sizeof...(Entries) > 0 && std::is_invocable_v<const F&, typename F::domain, const Entries&...>;

/// F(X), with the environment if F reads one.
template <class F, class... Entries>
typename F::codomain apply(const F& f, typename F::domain X, const Entries&... entries) {
  if constexpr (reads_environment<F, Entries...>)
    return f(std::move(X), entries...);
  else
    return f(std::move(X));
}

/// F's value and pullback at X, with the environment if F reads one.
template <class F, class... Entries>
auto differentiate(const F& f, typename F::domain X, const Entries&... entries) {
  if constexpr (reads_environment<F, Entries...>)
    return f.value_and_pullback(std::move(X), entries...);
  else
    return f.value_and_pullback(std::move(X));
}

/// The rows of T(X₀ continued by X) that belong to X, where `state` remembers X₀ and from now on also X, with the
/// environment if T reads one. T(X|i) = T(X)|i is what makes this possible: what was computed for X₀ stands. (And what
/// does not depend on X at all stands the more.)
template <Extensible T, class... Entries>
typename T::codomain extend(const T& layer, State<T>& state, typename T::domain X, const Entries&... entries) {
  if constexpr (rowwise<T>)
    return apply(layer, std::move(X), entries...);
  else if constexpr (requires { layer.extend(state, std::move(X), entries...); })
    return layer.extend(state, std::move(X), entries...);
  else
    return layer.extend(state, std::move(X));
}

}  // namespace tlm
