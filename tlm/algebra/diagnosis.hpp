// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>

#include <tlm/algebra/layer.hpp>
#include <tlm/base/refuse.hpp>

/// What the compiler reports when something is not a layer, or is used in a way that is not possible: one sentence. A
/// placeholder takes the place of what is missing, so that no other errors follow.
namespace tlm {

// --- What stands in for what is missing ----------------------------------------------------------------------------------

namespace detail {

/// Takes the place of any type.
struct Anything {
  using Real = float;
  using domain = Anything;
  using codomain = Anything;

  Anything() = default;
  Anything(auto&&) {}
  template <class T>
  operator T() const;
  Anything operator()(auto&&...) const { return {}; }
  friend Anything operator+(const auto&, const auto&) { return {}; }  // found only for Anything, or what is made of it
};

/// Takes the place of a missing T. It is declared only.
template <class T>
T stand_in();

}  // namespace detail
class Noise;  // noise.hpp

/// What T takes; Anything if it does not declare what it takes and returns.
template <class T>
using DomainOf = typename std::conditional_t<detail::HasTypes<T>, T, detail::Anything>::domain;
/// What T returns; or Anything.
template <class T>
using CodomainOf = typename std::conditional_t<detail::HasTypes<T>, T, detail::Anything>::codomain;

namespace detail {

// --- Leaves --------------------------------------------------------------------------------------------------------------

/// The condition under which T is a leaf that reads this item, or none. A failure shows both.
template <class T, class... Item>
struct IsLeaf : Condition {
  static constexpr bool types = rules::Leaf<T> && HasTypes<T>;
  static constexpr bool function = types && Function<T, Item...>;
  static constexpr bool weights = function && HasWeights<T>;
  static constexpr bool constructor = weights && std::default_initializable<T>;
  static constexpr bool derivative = constructor && requires(const T& layer, DomainOf<T> X, const Item&... item) {
    { layer.value_and_pullback(X, item...).value } -> std::convertible_to<CodomainOf<T>>;
  };
  static constexpr bool pullback = derivative && requires(const T& layer, DomainOf<T> X, const Item&... item,
                                                          CodomainOf<T> Y_bar, T& gradient, Item&... item_gradient) {
    layer.value_and_pullback(X, item...).pullback.function(Y_bar, gradient, item_gradient...);
  };
  static constexpr bool layer = pullback && Differentiable<T, Item...>;
  static_assert(rules::Leaf<T>,
                "a leaf declares what it is: using declared = tlm::is::Rowwise, or Autoregressive, Constant, "
                "Unrestricted");
  static_assert(
      !rules::Leaf<T> || types,
      "a layer has an input and an output type: using domain = tlm::Matrix<tlm::n, ...>, using codomain = ...");
  static_assert(
      !types || function,
      "a layer is a function: codomain operator()(const domain& X) const; one that reads an item of the environment "
      "says which, using reads = ..., and takes it after X: operator()(const domain& X, const reads& item) const");
  static_assert(!function || weights,
                "a layer visits its weights: static constexpr void weights(auto&& visit, auto& layer) "
                "{ visit(\"A\", layer.A); }, with an empty body if it has none");
  static_assert(!weights || constructor, "a layer can be made without arguments: so is its gradient");
  static_assert(!constructor || derivative,
                "a layer has a derivative: auto value_and_pullback(const domain& X) const, which returns "
                "tlm::with_pullback(Y, pullback), with Y of type codomain; an item that the layer `reads` follows X");
  static_assert(!derivative || pullback,
                "a pullback takes Y_bar and a gradient of the layer's own type: [](const codomain& Y_bar, Layer& "
                "gradient) { ...; return X_bar; }; that of a layer that `reads` an item takes a third: reads& "
                "item_gradient");
  static_assert(
      !pullback || layer,
      "a pullback returns X_bar = dL/dX, which is of the layer's domain like X; or tlm::Nothing if X are tokens");
  static_assert(
      !layer || !Remembers<T> || Extends<T, Item...>,
      "a leaf that is autoregressive or constant, and not rowwise, remembers the rows before in a struct State { "
      "... }, and continues them: codomain extend(State& state, const domain& X) const; an item that it `reads` "
      "follows X");
};
/// A leaf that reads an item.
template <Reads T>
struct IsLeaf<T> : IsLeaf<T, typename T::reads> {};

/// The condition under which T is a layer. If it is none, IsLeaf says why, or the `fits` of a formula.
template <class T>
struct IsLayer : std::conditional_t<Layer<T>, Condition,
                                    std::conditional_t<rules::Formula<T>, rules::IsLeafOrFormula<T>, IsLeaf<T>>> {};

// --- Formulas ------------------------------------------------------------------------------------------------------------

/// The condition under which G ∘ F exists. A failure shows both types.
template <class DomainOfG, class CodomainOfF>
struct DomainIs : Condition {
  static constexpr bool holds = std::is_same_v<DomainOfG, CodomainOfF> || std::is_same_v<DomainOfG, Anything> ||
                                std::is_same_v<CodomainOfF, Anything>;
  static_assert(holds, "in a composition G∘F the codomain of F is the domain of G");
};

/// The condition under which the parts of a formula are layers.
template <class... F>
struct AreLayers : Condition {
  static_assert((IsLayer<F>::value && ...));
  static constexpr bool holds = (Layer<F> && ...);
};

/// The condition under which G ∘ F is a layer.
template <class G, class F>
struct Compose : AreLayers<G, F> {
  static_assert(DomainIs<DomainOf<G>, CodomainOf<F>>::value);
  static constexpr bool holds = AreLayers<G, F>::holds && DomainIs<DomainOf<G>, CodomainOf<F>>::holds;
};

// --- Use -----------------------------------------------------------------------------------------------------------------

/// The condition under which T can be extended row by row, in this environment. A failure shows both.
template <class T, class... Environment>
struct CanExtend : Condition {
  static_assert(rules::Extensible<T> || !Layer<T>,
                "this is not autoregressive by type: rows that follow would change what was computed for earlier ones");
  static_assert((!std::is_same_v<Environment, Noise> && ...),
                "advance takes no noise: claims are derived for a layer without noise");
};

/// The condition under which T finds the item that it reads in this environment. A failure shows both.
template <class T, class... Environment>
struct FindsItem : Condition {
  static_assert(
      (std::is_same_v<typename T::reads, Environment> || ...),
      "this layer reads an item of the environment that is not there, or has another shape: a memory comes from an "
      "EncoderDecoder, a tied weight from a Tied");
};

}  // namespace detail

}  // namespace tlm
