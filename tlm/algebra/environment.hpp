#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <tlm/algebra/layer.hpp>

/// How a layer is applied, differentiated and extended in an environment: what some layers read beside their input.
///
/// A decoder's memory and a weight that a model uses in several places are entries of the environment, each an object
/// of a type of its own. What is made of other layers passes the entries on as they are, f(X, entry…); a leaf that reads
/// one says so, `using reads = Entry`, and takes it behind X; all other leaves stay functions of X alone. What pullbacks
/// add up for the entries goes to objects of the same types, which stand beside the gradient:
/// pullback(Y_bar, gradient, entry_gradient…).
namespace tlm {

/// F(X), with the entries that F takes.
template <class F, class... Entries>
CodomainOf<F> apply(const F& f, DomainOf<F> X, const Entries&... entries) {
  if constexpr (complete<F>)
    return with_entries<F>([&](const auto&... taken) -> CodomainOf<F> { return f(std::move(X), taken...); },
                           entries...);
  else
    return {};
}

/// The condition under which F has a pullback that returns a matrix of F's domain. A failure shows F and what it returns.
template <class F, class Returned>
struct PullbackLeadsBack {
  static constexpr bool value = true;  // If not, the next line says so: once.
  static_assert(std::is_convertible_v<Returned, DomainOf<F>> || std::is_same_v<Returned, Nothing>,
                "a pullback returns ∂L/∂X, which is of the layer's domain like X; or tlm::Nothing if X are tokens");
};

/// F has a derivative, with these entries.
template <class F, class... Entries>
concept HasPullback = requires(const F& f, DomainOf<F> X, const Entries&... entries) {
  f.value_and_pullback(std::move(X), entries...);
};

/// The condition under which F has a derivative. A failure shows F.
template <class F, bool has_pullback>
struct IsDifferentiable {
  static constexpr bool value = has_pullback;
  static_assert(
      has_pullback,
      "a layer has a derivative: auto value_and_pullback(domain X) const, which returns "
      "tlm::with_pullback(Y, [](const codomain& Y_bar, Layer& gradient) { …; return X_bar; }), and behind X and "
      "behind the gradient the entry that it reads");
};

/// What stands in for the value and pullback of a layer that has none, so that the sentence about it is the only error.
template <class F>
auto no_pullback() {
  if constexpr (std::default_initializable<CodomainOf<F>>)
    return with_pullback(CodomainOf<F>{}, Anything{});
  else
    return with_pullback(Anything{}, Anything{});
}

/// What differentiate does, with the entries that F takes.
template <class F, class... Taken>
auto differentiate_with(const F& f, DomainOf<F> X, const Taken&... taken) {
  if constexpr (IsDifferentiable<F, HasPullback<F, Taken...>>::value)
    return f.value_and_pullback(std::move(X), taken...);
  else
    return no_pullback<F>();
}

/// F's value and pullback at X, with the entries that F takes.
template <class F, class... Entries>
auto differentiate(const F& f, DomainOf<F> X, const Entries&... entries) {
  if constexpr (complete<F>)
    return with_entries<F>([&](const auto&... taken) { return differentiate_with(f, std::move(X), taken...); },
                           entries...);
  else
    return no_pullback<F>();
}

/// What the pullback of F returns.
template <class F, class... Entries>
using PulledBack =
    decltype(differentiate(std::declval<const F&>(), std::declval<DomainOf<F>>(), std::declval<const Entries&>()...)
                 .pullback(std::declval<CodomainOf<F>>(), std::declval<F&>(), std::declval<Entries&>()...));

/// The condition under which a layer can be extended row by row. A failure shows the layer.
template <class T>
struct CanExtend {
  static constexpr bool value = Extensible<T>;
  static_assert(value || !complete<T>,
                "this is not autoregressive by type: rows that follow would change what was computed for earlier ones");
};

/// The rows of T(X₀ continued by X) that belong to X, where `state` remembers X₀ and from now on also X, with the
/// entries that T takes. T(X|i) = T(X)|i is what makes this possible: what was computed for X₀ stands. (And what does not
/// depend on X at all stands the more.)
template <class T, class... Entries>
CodomainOf<T> extend(const T& layer, State<T>& state, DomainOf<T> X, const Entries&... entries) {
  if constexpr (!CanExtend<T>::value)
    return {};
  else if constexpr (rowwise<T>)
    return apply(layer, std::move(X), entries...);
  else if constexpr (complete<T>)
    return with_entries<T>(
        [&](const auto&... taken) -> CodomainOf<T> { return layer.extend(state, std::move(X), taken...); }, entries...);
  else
    return {};
}

/// T is a layer: it has its first two faces, and its weights can be visited.
template <class T>
concept Layer = complete<T> && requires(const T& f, typename T::domain X) {
  { f.value_and_pullback(X).value } -> std::convertible_to<typename T::codomain>;
};

}  // namespace tlm
