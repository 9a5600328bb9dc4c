// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include <tlm/algebra/diagnosis.hpp>
#include <tlm/algebra/layer.hpp>
#include <tlm/matrix/sequences.hpp>

/// How a layer is used in an environment. Its three faces (layer.hpp) have functions: apply, differentiate, advance.
///
/// The environment is what some layers read beside their input. Its items are objects, each of its own type: a decoder's
/// memory (encoder_decoder.hpp), a weight that a model uses in several places (tied.hpp), or the noise of training
/// (noise.hpp). A function takes the items after X: f(X, environment…). A formula passes all of them on to its parts.
///
/// A leaf takes one item, or none. With `using reads = Item` it is a function f(X, item). With `using may_read = Item`
/// it is f(X, item) if there is such an item, and otherwise f(X).
///
/// A pullback adds up the gradients of the items, too. They are objects of the same types, and follow the gradient of the
/// weights: pullback(Y_bar, gradient, environment_gradient…). A pullback may outlive a memory, so it copies what it needs
/// of it. A tied weight belongs to the model, so a pullback refers to it.
namespace tlm {

namespace detail {

/// The first item of this type. If there is none, this declaration takes its place.
template <class Item>
Item& first_item();
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
  return first_item<typename T::reads>(environment...);
}

/// T takes all items, and is called as it is: a formula, or, where there are no items, a leaf that reads none.
template <class T, class... Environment>
concept TakesAll = rules::Formula<T> ||(sizeof...(Environment) == 0 && !Reads<T>);

/// action(item) with the item that a leaf reads, or may read and finds. Otherwise action().
template <class T, class Action, class... Environment>
auto with_item(const Action& action, Environment&... environment) {
  if constexpr (Reads<T>)
    return action(read<T>(environment...));
  else if constexpr (requires {
                       requires(std::is_same_v<typename T::may_read, std::remove_const_t<Environment>> || ...);
                     })
    return action(first_item<typename T::may_read>(environment...));
  else
    return action();
}

}  // namespace detail

// --- The first face: the value --------------------------------------------------------------------------------------

/// F(X), in this environment.
template <class F, class X_type, class... Environment>
CodomainOf<F> apply(const F& f, X_type&& X, const Environment&... environment) {
  static_assert(detail::IsLayer<F>::value);
  if constexpr (!Layer<F>)
    return detail::stand_in<CodomainOf<F>>();
  else if constexpr (detail::TakesAll<F, Environment...>)
    return f(std::forward<X_type>(X), environment...);
  else
    return detail::with_item<F>(
        [&](const auto&... item) -> CodomainOf<F> { return f(std::forward<X_type>(X), item...); }, environment...);
}

// --- The second face: the value and its pullback --------------------------------------------------------------------

namespace detail {

/// The pullback of a leaf: X̄ = pullback(Ȳ, gradient), by the transpose of its derivative. It can be applied any number
/// of times. Its layer must outlive it, unchanged. It can be moved, but not copied.
template <class Function>
class Pullback {
 public:
  Function function;  ///< Computes X̄ from Ȳ.

  /// The pullback of a leaf whose value Y has these sequences.
  Pullback(Function&& function_, const Sequences& sequences) : function{std::move(function_)}, sequences_{sequences} {}
  Pullback(Pullback&&) = default;

  /// X̄, given Ȳ. Adds ∂L/∂(weights) to `gradient`, and ∂L/∂item to the gradient of each item that the layer reads.
  /// Throws std::invalid_argument unless Ȳ has the sequences of Y.
  template <class Codomain, class Layer, class... Environment>
  auto operator()(Codomain&& Y_bar, Layer& gradient, Environment&... environment_gradient) const {
    if constexpr (requires { Y_bar.sequences(); }) require_same_sequences("Y", sequences_, "Y_bar", Y_bar.sequences());
    if constexpr (TakesAll<Layer, Environment...>)
      return function(std::forward<Codomain>(Y_bar), gradient, environment_gradient...);
    else
      return with_item<Layer>(
          [&](auto&... item_gradient) { return function(std::forward<Codomain>(Y_bar), gradient, item_gradient...); },
          environment_gradient...);
  }

 private:
  Sequences sequences_;
};

/// A value and its pullback: auto [Y, pullback] = layer.value_and_pullback(X). That of a leaf is a Pullback. That of a
/// formula calls those of its parts, which require the sequences of their values and take their items.
template <class Value, class Function>
struct Result {
  Value value;
  Function pullback;
};
template <class Value, class Function>
Result(Value, Function) -> Result<Value, Function>;

}  // namespace detail

/// What value_and_pullback of a leaf returns: the value Y, and the function that maps Ȳ back to X̄.
template <class Value, class Function>
detail::Result<std::remove_cvref_t<Value>, detail::Pullback<Function>> with_pullback(Value&& Y, Function function) {
  Sequences sequences;
  if constexpr (requires { Y.sequences(); }) sequences = Y.sequences();
  return {std::forward<Value>(Y), {std::move(function), sequences}};
}

/// F's value and pullback at X, in this environment.
template <class F, class X_type, class... Environment>
auto differentiate(const F& f, X_type&& X, const Environment&... environment) {
  static_assert(detail::IsLayer<F>::value);
  if constexpr (!Layer<F>)
    return detail::stand_in<detail::Result<CodomainOf<F>, detail::Anything>>();
  else if constexpr (detail::TakesAll<F, Environment...>)
    return f.value_and_pullback(std::forward<X_type>(X), environment...);
  else
    return detail::with_item<F>(
        [&](const auto&... item) { return f.value_and_pullback(std::forward<X_type>(X), item...); }, environment...);
}

/// What value_and_pullback of a temporary layer returns: an error, because the layer would not outlive the pullback.
template <class Layer>
auto refuse_temporary() {
  static_assert(sizeof(Layer) == 0,  // false
                "a pullback refers to its layer: give the layer a name, so that it lives as long as the pullback");
  const auto pullback = [](auto&&...) { return detail::stand_in<DomainOf<Layer>>(); };
  return detail::stand_in<detail::Result<CodomainOf<Layer>, decltype(pullback)>>();
}

// --- The third face: the rows that follow ---------------------------------------------------------------------------

namespace detail {

/// What T remembers of the rows before, and the number of their sequences. By default there are no rows before.
template <class T>
struct Remembered {
  typename T::State rows{};
  std::optional<std::size_t> count{};
};

}  // namespace detail

/// What extending T needs between two calls: for attention the keys and values so far, for a rowwise T nothing.
template <class T>
using State = std::conditional_t<Layer<T> && detail::Remembers<T>, detail::Remembered<T>, Nothing>;

/// The rows of T(X₀ continued by X) that belong to X, in this environment. `state` remembers X₀, and then also X. This
/// is possible because T(X|i) = T(X)|i: what was computed for X₀ stays valid. (A T that is independent of X returns all of
/// its rows at first, and then none.)
///
/// Throws std::invalid_argument if the number of sequences of a stack X has changed, unless T is rowwise. So T's own
/// `extend` need not ask. After an exception some parts of `state` may be updated, others not: go on with a copy.
template <class T, class... Environment>
CodomainOf<T> advance(const T& layer, State<T>& state, DomainOf<T> X, const Environment&... environment) {
  static_assert(detail::CanExtend<T, Environment...>::value);
  if constexpr (std::is_same_v<State<T>, Nothing>) {
    return apply(layer, std::move(X), environment...);
  } else {
    if constexpr (requires { X.sequences(); }) {
      if (!state.count) state.count = X.sequences().count();
      detail::require_continuation(*state.count, X.sequences().count());
    }
    if constexpr (detail::TakesAll<T, Environment...>)
      return layer.extend(state.rows, std::move(X), environment...);
    else
      return detail::with_item<T>(
          [&](const auto&... item) -> CodomainOf<T> { return layer.extend(state.rows, std::move(X), item...); },
          environment...);
  }
}

}  // namespace tlm
