// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include <tlm/algebra/entries.hpp>
#include <tlm/matrix/matrix.hpp>

namespace tlm {

/// No value: the state of a layer that needs none, the derivative by an input that is not made of real numbers.
struct Nothing {};

/// The transpose of a derivative: X̄ = pullback(Ȳ, gradient). It can be applied any number of times; the layer that
/// it came from must outlive it unchanged. Move-only.
///
/// It keeps the Sequences of Y, to ask that Ȳ has them; or Nothing, if they are asked for elsewhere or Y has none.
template <class Function, class Kept>
class Pullback {
 public:
  /// Whether it takes these.
  template <class... Arguments>
  static constexpr bool takes = std::is_invocable_v<const Function&, Arguments...>;
  /// What it then returns.
  template <class... Arguments>
  using Returned = std::invoke_result_t<const Function&, Arguments...>;

  /// That of this Y, by this function.
  template <class Value>
  Pullback(Function&& function, const Value& Y) : function_{std::move(function)}, sequences_{kept_of(Y)} {}
  Pullback(Pullback&&) = default;
  Pullback& operator=(Pullback&&) = default;

  /// X̄, given Ȳ; adds ∂L/∂(weights) to `gradient` and, for a layer that reads the environment, ∂L/∂(entry) to the
  /// entries' gradients. Throws std::invalid_argument unless Ȳ has the sequences of Y.
  template <class Codomain, class Layer, class... Entries>
  auto operator()(Codomain&& Y_bar, Layer& gradient, Entries&... entry_gradients) const {
    if constexpr (std::is_same_v<Kept, Sequences>) require_same_sequences("Y", sequences_, "Y_bar", Y_bar.sequences());
    if constexpr (sizeof...(Entries) == 0)
      return function_(std::forward<Codomain>(Y_bar), gradient);
    else
      return with_entries<Layer>(
          [&](auto&... taken) { return function_(std::forward<Codomain>(Y_bar), gradient, taken...); },
          entry_gradients...);
  }

 private:
  template <class Value>
  static decltype(auto) kept_of(const Value& Y) {
    if constexpr (std::is_same_v<Kept, Sequences>)
      return Y.sequences();
    else
      return Nothing{};
  }

  Function function_;
  [[no_unique_address]] Kept sequences_;
};

/// What the pullback of a leaf that returns such values keeps of them.
template <class Value>
struct KeptOf {
  using type = Nothing;
};
template <class Value>
requires requires(const Value& Y) { Y.sequences(); }
struct KeptOf<Value> {
  using type = Sequences;
};

/// What value_and_pullback returns: auto [Y, pullback] = layer.value_and_pullback(X).
template <class Value, class Function, class Kept = typename KeptOf<Value>::type>
struct ValueAndPullback {
  Value value;
  Pullback<Function, Kept> pullback;

  /// Of this Y and this function.
  template <class Y>
  ValueAndPullback(Y&& of, Function&& function) : value{std::forward<Y>(of)}, pullback{std::move(function), value} {}
};

/// A value with the function that pulls back to where it came from.
template <class Value, class Function>
ValueAndPullback<std::remove_cvref_t<Value>, Function> with_pullback(Value&& value, Function&& function) {
  return {std::forward<Value>(value), std::move(function)};
}

/// The same of what is made of parts, of which the last one's value has the same sequences: its pullback is the first to get Ȳ,
/// and asks.
template <class Value, class Function>
ValueAndPullback<std::remove_cvref_t<Value>, Function, Nothing> with_pullback_of_parts(Value&& value,
                                                                                       Function&& function) {
  return {std::forward<Value>(value), std::move(function)};
}

/// What a pullback returns is of the domain: so is ∂L/∂X. By tokens there is no derivative.
template <class Domain, class Returned>
inline constexpr bool leads_back = std::is_convertible_v<Returned, Domain> ||
                                   (std::is_same_v<Domain, Tokens> && std::is_same_v<Returned, Nothing>);

}  // namespace tlm
