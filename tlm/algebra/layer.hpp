// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>

#include <tlm/algebra/names.hpp>
#include <tlm/algebra/rules.hpp>
#include <tlm/matrix/matrix.hpp>

/// What a layer is.
///
/// A layer T holds its weights, and is a function from T::domain to T::codomain. It has three faces:
///
///   Y = T(X)                                        the definition
///   auto [Y, pullback] = T.value_and_pullback(X)    and X_bar = pullback(Y_bar, gradient)
///   Y' = advance(T, state, X')                      the rows that follow earlier ones, if T is autoregressive
///
/// Let L be a number that depends on Y. The cotangent of Y is Ȳ = ∂L/∂Y, a matrix of Y's shape. Given Ȳ, the pullback
/// (reverse-mode derivative, VJP) returns X̄ = ∂L/∂X. It adds ∂L/∂(weights of T) to `gradient`, an object of T's own type.
/// Differentials are written dX: dL = ⟨Ȳ, dY⟩ = ⟨X̄, dX⟩ + ….
///
/// X is a stack of sequences. A rowwise operation cannot tell which sequence a row belongs to, because T(X_i) = T(X)_i.
/// So it runs once over all rows. Only other operations look at where sequences begin. Hence there is no padding.
///
/// A formula is made of other layers, and has `using form = …`. A leaf is not made of others, and has
///
///   using declared = is::Rowwise                    or another claim of rules.hpp
///   using domain, codomain                          matrices with n rows
///   using reads = …                                 if it reads an item of the environment (application.hpp)
///   operator()(X), value_and_pullback(X)            with that item after X
///   weights(visit, layer)                           see names.hpp
///   State, extend(state, X)                         if it is autoregressive or constant, not rowwise (application.hpp)
namespace tlm {

/// No value: the state of a layer that needs none, and the derivative with respect to tokens.
struct Nothing {
  friend constexpr Nothing operator+(Nothing, Nothing) { return {}; }
};

namespace detail {

/// T has a domain and a codomain.
template <class T>
concept HasTypes = requires {
  typename T::domain;
  typename T::codomain;
};

/// The first face: T(X), or T(X, item).
template <class T, class... Item>
concept Function = std::is_invocable_r_v<typename T::codomain, const T&, typename T::domain, const Item&...>;

/// X̄ is of X's type. There is no derivative with respect to tokens.
template <class X_bar, class X>
concept CotangentOf = std::convertible_to<X_bar, X> ||(std::same_as<X, Tokens>&& std::same_as<X_bar, Nothing>);

/// The second face: T's value and its pullback, which maps Ȳ to X̄.
template <class T, class... Item>
concept Differentiable = requires(const T& layer, typename T::domain X, const Item&... item, typename T::codomain Y_bar,
                                  T& gradient, Item&... item_gradient) {
  { layer.value_and_pullback(X, item...).value } -> std::convertible_to<typename T::codomain>;
  {
    layer.value_and_pullback(X, item...).pullback.function(Y_bar, gradient, item_gradient...)
    } -> CotangentOf<typename T::domain>;
};

/// T's earlier rows stay the same when rows are appended, and T has to know that they were there. So T needs a State.
template <class T>
concept Remembers = rules::Extensible<T> && !rowwise<T>;

/// The third face: T extends what its State remembers.
template <class T, class... Item>
concept Extends = requires(const T& layer, typename T::State& state, typename T::domain X, const Item&... item) {
  { layer.extend(state, X, item...) } -> std::convertible_to<typename T::codomain>;
};

/// T reads an item of the environment.
template <class T>
concept Reads = std::is_object_v<typename T::reads>;

/// T is a leaf that reads this item, or none.
template <class T, class... Item>
concept LeafReading =
    rules::Leaf<T> && !rules::Formula<T> && HasTypes<T> && Function<T, Item...> && HasWeights<T> &&
    std::default_initializable<T> && Differentiable<T, Item...> && (!Remembers<T> || Extends<T, Item...>);

/// The parts of a formula do not fit each other (diagnosis.hpp). A formula without `fits` has no condition.
template <class T>
concept Misfit = !T::fits::holds;

}  // namespace detail

/// T is a layer.
template <class T>
concept Layer = (rules::Formula<T> && !rules::Leaf<T> && !detail::Misfit<T>) ||
                (detail::Reads<T> && detail::LeafReading<T, typename T::reads>) ||
                (!detail::Reads<T> && detail::LeafReading<T>);

}  // namespace tlm
