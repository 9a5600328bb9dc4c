// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <tlm/algebra/pullback.hpp>
#include <tlm/algebra/rules.hpp>
#include <tlm/algebra/stand_in.hpp>
#include <tlm/algebra/weight_by_path.hpp>
#include <tlm/algebra/weights.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/numbers/functions.hpp>

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
///   using reads = …;                          if it reads an entry of the environment (environment.hpp); may_read if it
///                                             can do without
///   operator()(X), value_and_pullback(X)      and behind X the entry, if it reads one
///   weights(visit, layer…)                    see weights.hpp
///   State, extend(state, X)                   if it is autoregressive and not rowwise
namespace tlm {

// --- What a layer lacks, in one sentence -------------------------------------------------------------------------------

/// What T takes and returns; Anything where T does not say it.
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
enum class Lacks {
  nothing,
  declaration,
  types,
  function,
  reading_function,
  weights,
  constructor,
  derivative,
  reading_derivative,
  pullback,
  way_back,
  state,
  extension,
  part
};

template <class T>
struct IsLayer;

/// T is a bias: a part that has weights and is no layer.
template <class T>
inline constexpr bool is_bias = false;
template <Leaf T>
inline constexpr bool is_bias<T> = std::is_same_v<typename T::declared, is::Positional> || requires {
  &T::pull_back;
};

/// What T, which is no leaf, or one of its parts lacks: one that says that its parts do not fit each other is not complete.
template <class T>
consteval Lacks lacks_of_formula() {
  bool complete = true;
  if constexpr (requires { T::fits; }) complete = T::fits;
  if constexpr (requires(T & layer) { T::parts([](std::size_t, auto&) {}, layer); })
    T::parts(
        [&]<class Part>(std::size_t, Part&) {
          if constexpr (Formula<Part> || requires { typename Part::domain; } || (Leaf<Part> && !is_bias<Part>))
            complete = complete && IsLayer<Part>::value && IsLayer<Part>::lacking == Lacks::nothing;
        },
        imaginary<T>);
  return complete ? Lacks::nothing : Lacks::part;
}

/// T has rows that follow others: a State, and `extend`.
template <class T, class... Entry>
concept Remembers = requires(const T& layer, typename T::State& state, typename Types<T>::domain X,
                             const Entry&... entry) {
  { layer.extend(state, std::move(X), entry...) } -> std::convertible_to<typename Types<T>::codomain>;
};

/// What T, which is a leaf that has its types and reads this entry or none, lacks.
template <class T, class... Entry>
consteval Lacks lacks_of_leaf() {
  using X = typename T::domain;
  using Y = typename T::codomain;
  constexpr bool reads = sizeof...(Entry) > 0;
  if constexpr (!std::is_invocable_r_v<Y, const T&, X, const Entry&...>) {
    return reads ? Lacks::reading_function : Lacks::function;
  } else if constexpr (!requires(T & layer) { T::weights([](const Name&, auto&...) {}, layer); }) {
    return Lacks::weights;
  } else if constexpr (!std::default_initializable<T>) {
    return Lacks::constructor;
  } else if constexpr (!requires(const T& layer, X x, const Entry&... entry) {
                         { layer.value_and_pullback(std::move(x), entry...).value } -> std::convertible_to<Y>;
                       }) {
    return reads ? Lacks::reading_derivative : Lacks::derivative;
  } else {
    using Back = decltype(std::declval<const T&>()
                              .value_and_pullback(std::declval<X>(), std::declval<const Entry&>()...)
                              .pullback);
    if constexpr (!Back::template takes<Y, T&, Entry&...>) {
      return Lacks::pullback;
    } else if constexpr (!leads_back<X, typename Back::template Returned<Y, T&, Entry&...>>) {
      return Lacks::way_back;
    } else if constexpr (Extensible<T> && !rowwise<T>) {
      if constexpr (!requires { typename T::State; })
        return Lacks::state;
      else if constexpr (!Remembers<T, Entry...>)
        return Lacks::extension;
      else
        return Lacks::nothing;
    } else {
      return Lacks::nothing;
    }
  }
}

/// What T lacks.
template <class T>
consteval Lacks lacks() {
  if constexpr (Formula<T> && Leaf<T>) {
    return Lacks::part;  // DeclaresOrFollows says so.
  } else if constexpr (Formula<T>) {
    return lacks_of_formula<T>();
  } else if constexpr (!Leaf<T>) {
    return Lacks::declaration;
  } else if constexpr (!requires {
                         typename T::domain;
                         typename T::codomain;
                       }) {
    return Lacks::types;
  } else if constexpr (requires { typename T::reads; }) {
    return lacks_of_leaf<T, typename T::reads>();
  } else if constexpr (requires { typename T::may_read; }) {
    constexpr Lacks alone = lacks_of_leaf<T>();
    return alone == Lacks::nothing ? lacks_of_leaf<T, typename T::may_read>() : alone;
  } else {
    return lacks_of_leaf<T>();
  }
}

/// The condition under which T is a layer. A failure shows T and says what it lacks.
template <class T>
struct IsLayer {
  static constexpr bool value = true;  // If not, one of the next lines says so: once.
  static constexpr Lacks lacking = lacks<T>();
  static_assert(DeclaresOrFollows<T>::value || Formula<T>);
  static_assert(lacking != Lacks::declaration,
                "a leaf declares what it is: using declared = tlm::is::Rowwise, or Autoregressive, Constant, "
                "Unrestricted");
  static_assert(
      lacking != Lacks::types,
      "a layer says from what to what it leads: using domain = tlm::Matrix<tlm::n, ...>, using codomain = ...");
  static_assert(lacking != Lacks::function,
                "a layer is a function: codomain operator()(const domain& X) const; if it takes an entry of the "
                "environment behind X, it says which: using reads = ...");
  static_assert(lacking != Lacks::reading_function,
                "a layer that `reads` an entry of the environment takes it behind X: codomain operator()(const domain& "
                "X, const reads& entry) const");
  static_assert(lacking != Lacks::weights,
                "a layer visits its weights: static constexpr void weights(auto&& visit, auto&... layer) "
                "{ visit(tlm::Name{\"A\"}, layer.A...); }, with an empty body if it has none");
  static_assert(lacking != Lacks::constructor, "a layer can be made without arguments: so is its gradient");
  static_assert(lacking != Lacks::derivative,
                "a layer has a derivative: auto value_and_pullback(const domain& X) const, which returns "
                "tlm::with_pullback(Y, pullback) with the codomain's Y");
  static_assert(lacking != Lacks::reading_derivative,
                "a layer that `reads` an entry of the environment has a derivative that takes it behind X: auto "
                "value_and_pullback(const domain& X, const reads& entry) const, which returns tlm::with_pullback(Y, "
                "pullback) with the codomain's Y");
  static_assert(
      lacking != Lacks::pullback,
      "a pullback takes Y_bar and a gradient of the layer's own type: [](const codomain& Y_bar, Layer& gradient) "
      "{ ...; return X_bar; }; that of a layer that `reads` an entry takes a third: reads& entry_gradient");
  static_assert(
      lacking != Lacks::way_back,
      "a pullback returns X_bar = dL/dX, which is of the layer's domain like X; or tlm::Nothing if X are tokens");
  static_assert(
      lacking != Lacks::state,
      "a leaf that is autoregressive and not rowwise remembers the rows that it has seen: struct State { ... }, "
      "and codomain extend(State& state, const domain& X) const");
  static_assert(lacking != Lacks::extension,
                "a leaf that is autoregressive and not rowwise continues the rows in its State: codomain extend(State& "
                "state, const domain& X) const, with the entry that it `reads` behind X");
};

/// T has all that a layer has.
template <class T>
inline constexpr bool complete = IsLayer<T>::lacking == Lacks::nothing;

// --- Temporary layers --------------------------------------------------------------------------------------------------

/// What stands in for the value and pullback of a layer.
template <class T>
auto stand_in_with_pullback() {
  return with_pullback(stand_in<CodomainOf<T>>(), [](auto&&...) { return stand_in<DomainOf<T>>(); });
}

/// False, for every layer: no temporary one does.
template <class Layer>
inline constexpr bool outlives_its_pullback = false;

/// What value_and_pullback of a temporary layer, which would not outlive the pullback, returns: an error that says so.
template <class Layer>
auto refuse_temporary() {
  static_assert(outlives_its_pullback<Layer>,
                "a pullback refers to its layer: give the layer a name, so that it lives as long as the pullback");
  return stand_in_with_pullback<Layer>();
}

// --- What T remembers --------------------------------------------------------------------------------------------------

/// What T remembers of the rows that it has seen, and how many sequences these were. One that is made by default has seen no
/// rows.
template <class T>
struct Remembered {
  typename T::State rows{};
  std::optional<std::size_t> count{};

  /// Throws std::invalid_argument for other sequences than before: none of T's extensions is asked to go on with those.
  void require(const Sequences& sequences) {
    if (!count) count = sequences.count();
    require_continuation(*count, sequences.count());
  }
};

/// What extending T needs between two calls: Nothing, if T is rowwise.
template <class T>
struct StateOf {
  using type = Nothing;
};
/// Remembered, if T is autoregressive and not rowwise.
template <class T>
requires(Extensible<T> && !rowwise<T> && requires { typename T::State; }) struct StateOf<T> {
  using type = Remembered<T>;
};
/// What T remembers, which is Nothing if it is rowwise.
template <class T>
using State = typename StateOf<T>::type;

/// The rows that follow no rows: T(X), where `extend` is T's formula. So operator() of such a leaf returns
/// from_the_beginning(*this, X), with the entry that it reads behind X. Throws what `extend` does.
template <class T, class... Entry>
CodomainOf<T> from_the_beginning(const T& layer, DomainOf<T> X, const Entry&... entry) {
  static_assert(IsLayer<T>::value);
  static_assert(Remembers<T, Entry...> || !complete<T>,
                "from_the_beginning(layer, X) is the extension of no rows: the layer has struct State { ... } and "
                "codomain extend(State& state, const domain& X) const");
  if constexpr (Remembers<T, Entry...>) {
    typename T::State nothing_yet{};
    return layer.extend(nothing_yet, std::move(X), entry...);
  } else {
    return stand_in<CodomainOf<T>>();
  }
}

}  // namespace tlm
