#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <tlm/algebra/claims.hpp>
#include <tlm/matrix/matrix.hpp>

/// What a layer is.
///
/// A layer T is a struct that holds its weights and is a function from T::domain to T::codomain. It has three faces:
///
///   Y = T(X)                                  the definition
///   auto [Y, pullback] = T.value_and_pullback(X)   and  dX = pullback(dY, gradient)
///   Y' = extend(T, state, X')                 if T is autoregressive: the rows that follow those computed before
///                                             (environment.hpp)
///
/// With dY = ∂L/∂Y for some number L, the pullback returns ∂L/∂X and adds ∂L/∂(weights of T) to `gradient`, which is an
/// object of T's own type: the gradient lives in the weight space.
///
/// X is a stack of sequences. A rowwise operation cannot tell which sequence a row belongs to (T(X_i) = T(X)_i), so it
/// runs once over all rows of the stack; only operations that are not rowwise look at where sequences begin. Hence
/// there is no padding, no mask for it, and nothing that could leak from it.
namespace tlm {

/// No value: the state of a layer that needs none, the derivative by an input that is not made of real numbers.
struct Nothing {};

/// The transpose of a derivative: dX = pullback(dY, gradient). It can be applied any number of times; the layer that
/// it came from must outlive it unchanged. Move-only.
template <class Function>
class Pullback {
 public:
  explicit Pullback(Function function) : function_{std::move(function)} {}
  Pullback(Pullback&&) = default;
  Pullback& operator=(Pullback&&) = default;

  /// ∂L/∂X, given dY = ∂L/∂Y; adds ∂L/∂(weights) to `gradient` and, for a layer that reads the environment,
  /// ∂L/∂(entry) to the entries' gradients.
  template <class Codomain, class Layer, class... Entries>
  auto operator()(Codomain dY, Layer& gradient, Entries&... entry_gradients) const {
    if constexpr (std::is_invocable_v<const Function&, Codomain, Layer&, Entries&...>)
      return function_(std::move(dY), gradient, entry_gradients...);
    else
      return function_(std::move(dY), gradient);
  }

 private:
  Function function_;
};

/// What value_and_pullback returns: auto [Y, pullback] = layer.value_and_pullback(X).
template <class Value, class Function>
struct ValueAndPullback {
  Value value;
  Pullback<Function> pullback;
};

/// A value with the function that pulls back to where it came from.
template <class Value, class Function>
ValueAndPullback<Value, Function> with_pullback(Value value, Function function) {
  return {std::move(value), Pullback<Function>{std::move(function)}};
}

/// The first two faces, and weights().
template <class T>
concept Layer = std::default_initializable<T> && requires(const T& f, T& g, typename T::domain X) {
  { f(X) } -> std::same_as<typename T::codomain>;
  { f.value_and_pullback(X).value } -> std::convertible_to<typename T::codomain>;
  T::weights([](const auto&, auto&) {}, g);
};

/// What T remembers of the rows that it has seen: Nothing if T is rowwise, otherwise T::State. A default-constructed
/// state has seen no rows.
template <class T>
struct StateOf {
  using type = typename T::State;
};
template <Rowwise T>
struct StateOf<T> {
  using type = Nothing;
};
/// What T remembers of the rows that it has seen, for an autoregressive T.
template <Extensible T>
using State = typename StateOf<T>::type;

}  // namespace tlm
