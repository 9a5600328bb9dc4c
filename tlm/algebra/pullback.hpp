// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include <tlm/algebra/environment.hpp>
#include <tlm/matrix/sequences.hpp>

namespace tlm {

namespace detail {

/// The transpose of a derivative: X̄ = pullback(Ȳ, gradient). It can be applied any number of times. Its layer must
/// outlive it, unchanged. It can be moved, but not copied.
template <class Function>
class Pullback {
 public:
  Function function;  ///< What computes X̄, from Ȳ of the sequences of Y.

  /// Of a Y with these sequences.
  Pullback(Function&& function_, const Sequences& sequences) : function{std::move(function_)}, sequences_{sequences} {}
  Pullback(Pullback&&) = default;

  /// X̄, given Ȳ. Adds ∂L/∂(weights) to `gradient`, and ∂L/∂item to the gradient of each item that the layer reads.
  /// Throws std::invalid_argument unless Ȳ has the sequences of Y.
  template <class Codomain, class Layer, class... Environment>
  auto operator()(Codomain&& Y_bar, Layer& gradient, Environment&... environment_gradient) const {
    if constexpr (requires { Y_bar.sequences(); }) require_same_sequences("Y", sequences_, "Y_bar", Y_bar.sequences());
    return with_items<Layer>(
        [&](auto&... item_gradient) { return function(std::forward<Codomain>(Y_bar), gradient, item_gradient...); },
        environment_gradient...);
  }

 private:
  Sequences sequences_;
};

/// What value_and_pullback returns: auto [Y, pullback] = layer.value_and_pullback(X).
template <class Value, class Function>
struct ValueAndPullback {
  Value value;
  Pullback<Function> pullback;
};

}  // namespace detail

/// Y, with the function that maps Ȳ back to X̄.
template <class Value, class Function>
detail::ValueAndPullback<std::remove_cvref_t<Value>, Function> with_pullback(Value&& Y, Function function) {
  Sequences sequences;
  if constexpr (requires { Y.sequences(); }) sequences = Y.sequences();
  return {std::forward<Value>(Y), {std::move(function), sequences}};
}

}  // namespace tlm
