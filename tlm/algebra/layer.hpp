#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <tlm/algebra/rules.hpp>
#include <tlm/algebra/weights.hpp>
#include <tlm/matrix/matrix.hpp>

/// What a layer is.
///
/// A layer T is a struct that holds its weights and is a function from T::domain to T::codomain. It has three faces:
///
///   Y = T(X)                                  the definition
///   auto [Y, pullback] = T.value_and_pullback(X)   and  X_bar = pullback(Y_bar, gradient)
///   Y' = extend(T, state, X')                 if T is autoregressive: the rows that follow those computed before
///                                             (environment.hpp)
///
/// For some number L that depends on Y, the cotangent of Y is Ȳ = ∂L/∂Y, a matrix of Y's shape. Given Ȳ the pullback
/// returns X̄ = ∂L/∂X and adds ∂L/∂(weights of T) to `gradient`, which is an object of T's own type: the gradient lives in
/// the weight space. (Differentials are written dX, cotangents X̄: dL = ⟨Ȳ, dY⟩ = ⟨X̄, dX⟩ + ….)
///
/// X is a stack of sequences. A rowwise operation cannot tell which sequence a row belongs to (T(X_i) = T(X)_i), so it
/// runs once over all rows of the stack; only operations that are not rowwise look at where sequences begin. Hence
/// there is no padding, no mask for it, and nothing that could leak from it.
///
/// A leaf is a layer that is not made of others. It has
///
///   using declared = is::Rowwise;             or another claim of rules.hpp
///   using domain, codomain                    matrices with n rows
///   using reads = …;                          if it reads an entry of the environment (environment.hpp)
///   operator()(X), value_and_pullback(X)      and behind X the entry, if it reads one
///   weights(visit, layer…)                    see weights.hpp
///   State, extend(state, X)                   if it is autoregressive and not rowwise
namespace tlm {

/// No value: the state of a layer that needs none, the derivative by an input that is not made of real numbers.
struct Nothing {};

// --- What a layer lacks, in one sentence -------------------------------------------------------------------------------

/// What stands in for what a layer lacks, so that the one sentence about it is the only error.
struct Anything {
  Anything() = default;
  template <class T>
  Anything(T&&) {}
  Anything operator()(auto&&...) const { return {}; }
  friend Anything operator+(Anything, Anything) { return {}; }
};

template <class T>
struct Types {
  using domain = Anything;
  using codomain = Anything;
};
template <class T>
requires requires {
  typename T::domain;
  typename T::codomain;
}
struct Types<T> {
  using domain = typename T::domain;
  using codomain = typename T::codomain;
};
/// What T takes.
template <class T>
using DomainOf = typename Types<T>::domain;
/// What T returns.
template <class T>
using CodomainOf = typename Types<T>::codomain;

/// The first thing that a layer lacks.
enum class Lacks { nothing, declaration, types, function, reader, weights, constructor, part };

template <class T>
consteval Lacks lacks();

template <class T>
concept HasDomain = requires {
  typename T::domain;
};

/// An operation, or what is meant as one: not an entry of the environment, and not a bias, which are parts of a layer that
/// only have weights.
template <class Part>
concept Operation = Formula<Part> || HasDomain<Part> ||
    (Leaf<Part> && !std::is_same_v<typename Part::declared, is::Positional>);

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif
/// What T, which is no leaf, or one of its parts lacks.
template <Formula T>
consteval Lacks lacks_in_parts() {
  bool complete = true;
  if constexpr (requires { T::parts([](std::size_t, auto&) {}, imaginary<T>); })
    T::parts(
        [&]<class Part>(std::size_t, Part&) {
          if constexpr (Operation<Part>) complete = complete && lacks<Part>() == Lacks::nothing;
        },
        imaginary<T>);
  return complete ? Lacks::nothing : Lacks::part;
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

template <class T>
consteval Lacks lacks() {
  if constexpr (Formula<T>) {
    return lacks_in_parts<T>();
  } else if constexpr (!requires { typename T::declared; }) {
    return Lacks::declaration;
  } else if constexpr (!requires {
                         typename T::domain;
                         typename T::codomain;
                       }) {
    return Lacks::types;
  } else if constexpr (requires { typename T::reads; }) {
    if constexpr (!std::is_invocable_r_v<typename T::codomain, const T&, typename T::domain, const typename T::reads&>)
      return Lacks::reader;
    else if constexpr (!requires(T & layer) { T::weights([](const Name&, auto&...) {}, layer); })
      return Lacks::weights;
    else
      return std::default_initializable<T> ? Lacks::nothing : Lacks::constructor;
  } else if constexpr (!std::is_invocable_r_v<typename T::codomain, const T&, typename T::domain>) {
    return Lacks::function;
  } else if constexpr (!requires(T & layer) { T::weights([](const Name&, auto&...) {}, layer); }) {
    return Lacks::weights;
  } else {
    return std::default_initializable<T> ? Lacks::nothing : Lacks::constructor;
  }
}

/// T has all that a layer has at least.
template <class T>
inline constexpr bool complete = lacks<T>() == Lacks::nothing;

/// The condition under which T is a layer. A failure shows T and says what it lacks.
template <class T>
struct IsLayer {
  static constexpr bool value = true;  // If not, one of the next lines says so: once.
  static constexpr Lacks lacking = lacks<T>();
  static_assert(
      lacking != Lacks::declaration,
      "a leaf declares what it is: using declared = tlm::is::Rowwise, or Autoregressive, Constant, Unrestricted");
  static_assert(lacking != Lacks::types,
                "a layer says from what to what it leads: using domain = tlm::Matrix<n, …>, using codomain = …");
  static_assert(
      lacking != Lacks::function,
      "a layer is a function: it has codomain operator()(const domain& X) const; behind X stands the entry of "
      "the environment that it says it `reads`");
  static_assert(
      lacking != Lacks::reader,
      "a layer that reads an entry of the environment takes it behind X: codomain operator()(const domain& X, "
      "const reads& entry) const");
  static_assert(lacking != Lacks::weights,
                "a layer visits its weights: static constexpr void weights(auto&& visit, auto&... layer) "
                "{ visit(tlm::Name{\"A\"}, layer.A...); }, with an empty body if it has none");
  static_assert(lacking != Lacks::constructor, "a layer can be made without arguments: so is its gradient");
};

// --- Pullbacks ---------------------------------------------------------------------------------------------------------

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
  Entry* found = nullptr;
  if constexpr (EnvironmentHas<std::remove_const_t<Entry>, std::remove_const_t<Entries>...>::value) {
    const auto look_at = [&]<class E>(E& entry) {
      if constexpr (std::is_same_v<std::remove_const_t<E>, std::remove_const_t<Entry>>) found = &entry;
    };
    (look_at(entries), ...);
  }
  return *found;
}

/// action(entry…) with the entries that T takes: all if T is made of other layers, which pass them on; the one that it
/// reads if T is a leaf that reads one; otherwise none.
template <class T, class Action, class... Entries>
auto with_entries(const Action& action, Entries&... entries) {
  if constexpr (Formula<T>) {
    return action(entries...);
  } else if constexpr (requires { typename T::reads; }) {
    using Entry = typename T::reads;
    constexpr bool constant = (std::is_const_v<Entries> || ...);
    return action(read<std::conditional_t<constant, const Entry, Entry>>(entries...));
  } else {
    return action();
  }
}

/// The transpose of a derivative: X̄ = pullback(Ȳ, gradient). It can be applied any number of times; the layer that
/// it came from must outlive it unchanged. Move-only.
template <class Function>
class Pullback {
 public:
  explicit Pullback(Function function) : function_{std::move(function)} {}
  Pullback(Pullback&&) = default;
  Pullback& operator=(Pullback&&) = default;

  /// X̄, given Ȳ; adds ∂L/∂(weights) to `gradient` and, for a layer that reads the environment, ∂L/∂(entry) to the
  /// entries' gradients.
  template <class Codomain, class Layer, class... Entries>
  auto operator()(Codomain Y_bar, Layer& gradient, Entries&... entry_gradients) const {
    return with_entries<Layer>([&](auto&... taken) { return function_(std::move(Y_bar), gradient, taken...); },
                               entry_gradients...);
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

/// The condition under which a pullback may be taken: never of a temporary layer, which it would outlive.
template <class Layer>
struct Outlives {
  static constexpr bool value = true;  // If asked for, the next line says no: once.
  static_assert(!std::is_same_v<Layer, Layer>,
                "a pullback refers to its layer: give the layer a name, so that it lives as long as the pullback");
};

/// What value_and_pullback of a temporary layer returns: an error that says so.
template <class Layer>
auto refuse_temporary() {
  static_assert(Outlives<Layer>::value);
  return with_pullback(Anything{}, Anything{});
}

// --- What T remembers --------------------------------------------------------------------------------------------------

/// The condition under which T's State exists. A failure shows T.
template <class T>
struct HasState {
  static constexpr bool value = requires(const T& layer, typename T::State& state) { typename T::State; };
  static_assert(
      value || Formula<T>,
      "a leaf that is autoregressive and not rowwise remembers: it has a struct State, and codomain extend(State& "
      "state, const domain& X) const, which returns the rows that follow those in the state");
};

/// What T remembers of the rows that it has seen: T::State. A default-constructed state has seen no rows.
template <class T>
struct StateOf {
  using type = Nothing;
};
template <class T>
requires(Extensible<T> && !rowwise<T> && HasState<T>::value) struct StateOf<T> {
  using type = typename T::State;
};
/// What T remembers of the rows that it has seen, which is Nothing if it is rowwise.
template <class T>
using State = typename StateOf<T>::type;

}  // namespace tlm
