// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <type_traits>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/rules.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/checking/stacked.hpp>

/// The value of a layer's form at X, computed from the layer's parts. A struct may name one form and compute another:
/// this shows it. Known forms are compositions, stacks, X + F(X) and Concat. All other parts are taken as they are.
namespace tlm::checking {

/// The value of a form; an unknown form has none.
template <class Form>
struct ByForm;

/// T's form is known.
template <class T>
inline constexpr bool form_is_known = false;
template <rules::Formula T>
inline constexpr bool form_is_known<T> = requires {
  sizeof(ByForm<typename T::form>);
};

/// T(X) by T's form, and by the forms of its parts.
template <class T, class Real>
Stacked<Real> value_by_form(const T& layer, const Input<Real>& X) {
  if constexpr (form_is_known<T>)
    return ByForm<typename T::form>::value(layer, X);
  else
    return Stacked<Real>{apply(layer, as<typename T::domain>(X))};
}

/// The parts F… of a layer that its form names.
template <class... F>
struct PartsOf {
  /// action(part) with each of them, in the order in which the layer visits them: that of the form, or the reverse one.
  /// Throws std::logic_error if the layer has other parts.
  template <class T>
  static void visit(const T& layer, bool reversed, const auto& action) {
    std::size_t found = 0;
    look_into(layer, reversed, action, found);
    if (found != sizeof...(F)) refuse<std::logic_error>({"the layer has other parts than those that its form names"});
  }

 private:
  template <class T>
  static void look_into(const T& layer, bool reversed, const auto& action, std::size_t& found) {
    const auto look_at = [&]<class Part>(std::size_t, const Part& part) {
      const std::size_t before = found, place = reversed ? sizeof...(F) - 1 - before : before;
      std::size_t k = 0;
      const auto match = [&]<class Fk>(const Fk*) {
        if constexpr (std::is_base_of_v<Fk, Part>)
          if (k == place && found == before) action(static_cast<const Fk&>(part)), ++found;
        ++k;
      };
      (match(static_cast<const F*>(nullptr)), ...);
      if constexpr (rules::Formula<Part>)
        if (found == before) look_into(part, reversed, action, found);
    };
    T::parts(look_at, layer);
  }
};

template <class... F>
struct ByForm<forms::Composition<F...>> {
  template <class Real>
  static Stacked<Real> value(const auto& layer, Input<Real> X) {
    PartsOf<F...>::visit(layer, true, [&](const auto& f) { X = {{}, value_by_form(f, X)}; });
    return X.target;
  }
};

template <class F, std::size_t count>
struct ByForm<forms::Stack<F, count>> {
  template <class T, class Real>
  static Stacked<Real> value(const T& layer, Input<Real> X) {
    T::parts([&](std::size_t, const F& f) { X = {{}, value_by_form(f, X)}; }, layer);
    return X.target;
  }
};

template <class F>
struct ByForm<forms::Residual<F>> {
  template <class Real>
  static Stacked<Real> value(const auto& layer, const Input<Real>& X) {
    Stacked<Real> Y = X.target;
    PartsOf<F>::visit(layer, false, [&](const auto& f) {
      const auto F_X = value_by_form(f, X);
      for (std::size_t e = 0; e < Y.numbers.size(); ++e) Y.numbers[e] += F_X.numbers[e];
    });
    return Y;
  }
};

template <class... F>
struct ByForm<forms::Concat<F...>> {
  template <class T, class Real>
  static Stacked<Real> value(const T& layer, const Input<Real>& X) {
    Stacked<Real> Y{X.target.sequences, shape_of<CodomainOf<T>>()};
    std::size_t first = 0;
    PartsOf<F...>::visit(layer, false, [&](const auto& f) {
      const auto F_X = value_by_form(f, X);
      for (std::size_t i = 0; i < Y.sequences.rows(); ++i) std::copy_n(&F_X(i, 0), F_X.cols, &Y(i, first));
      first += F_X.cols;
    });
    return Y;
  }
};

}  // namespace tlm::checking
