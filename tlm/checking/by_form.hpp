// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <type_traits>

#include <tlm/algebra/application.hpp>
#include <tlm/algebra/rules.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/checking/stacked.hpp>

/// The value of a layer's form at X, computed from the layer's parts. A struct may name one form and compute another:
/// this shows it. Known forms are compositions, stacks, X + F(X) and Concat. All other parts are taken as they are.
namespace tlm::checking {

/// T's form is known: there is an of_form for it, below.
template <class T>
concept FormIsKnown = requires(const T& layer) {
  of_form(static_cast<typename T::form*>(nullptr), layer, Input<double>{});
};

/// T(X) by T's form, and by the forms of its parts. Throws std::logic_error if a form has other columns than its layer.
template <class T, class Real>
Stacked<Real> value_by_form(const T& layer, const Input<Real>& X) {
  if constexpr (FormIsKnown<T>) {
    auto Y = of_form(static_cast<typename T::form*>(nullptr), layer, X);
    if (Y.cols != CodomainOf<T>::cols) refuse<std::logic_error>({"a layer has other columns than its form says"});
    return Y;
  } else {
    return Stacked<Real>{apply(layer, as<typename T::domain>(X))};
  }
}

/// action(part) for each part F… that a layer's form names, in the order in which the layer visits them. That is the
/// order of F…, or, if `reversed`, the reverse. Throws std::logic_error if a part is missing or out of order.
template <class... F>
void for_each_part(const auto& layer, bool reversed, const auto& action) {
  std::size_t found = 0;
  const auto look_into = [&]<class T>(const auto& self, const T& whole) -> void {
    const auto look_at = [&]<class Part>(std::size_t, const Part& part) {
      const std::size_t before = found, place = reversed ? sizeof...(F) - 1 - before : before;
      std::size_t k = 0;
      const auto match = [&]<class Fk>(const Fk*) {
        if constexpr (std::is_base_of_v<Fk, Part>)
          if (k == place) action(static_cast<const Fk&>(part)), ++found;
        ++k;
      };
      (match(static_cast<const F*>(nullptr)), ...);
      if constexpr (rules::Formula<Part>)
        if (found == before) self(self, part);
    };
    T::parts(look_at, whole);
  };
  look_into(look_into, layer);
  if (found != sizeof...(F)) refuse<std::logic_error>({"the layer has other parts than those that its form names"});
}

/// The value at X of a layer of this form; an unknown form has none.
template <class... F, class Real>
Stacked<Real> of_form(forms::Composition<F...>*, const auto& layer, Input<Real> X) {
  for_each_part<F...>(layer, true, [&](const auto& f) { X = {{}, value_by_form(f, X)}; });
  return X.target;
}

template <class F, std::size_t count, class T, class Real>
Stacked<Real> of_form(forms::Stack<F, count>*, const T& layer, Input<Real> X) {
  std::size_t found = 0;
  T::parts([&](std::size_t, const F& f) { X = {{}, value_by_form(f, X)}, ++found; }, layer);
  if (found != count) refuse<std::logic_error>({"the layer has ", found, " parts, and its form names ", count});
  return X.target;
}

template <class F, class Real>
Stacked<Real> of_form(forms::Residual<F>*, const auto& layer, const Input<Real>& X) {
  Stacked<Real> Y = X.target;
  for_each_part<F>(layer, false, [&](const auto& f) {
    const auto F_X = value_by_form(f, X);
    require_same_sequences("X", Y.sequences, "F(X)", F_X.sequences);
    for (std::size_t e = 0; e < Y.numbers.size(); ++e) Y.numbers[e] += F_X.numbers[e];
  });
  return Y;
}

template <class... F, class Real>
Stacked<Real> of_form(forms::Concat<F...>*, const auto& layer, const Input<Real>& X) {
  Stacked<Real> Y{X.target.sequences, {(CodomainOf<F>::cols + ...)}};
  std::size_t first = 0;
  for_each_part<F...>(layer, false, [&](const auto& f) {
    const auto F_X = value_by_form(f, X);
    require_same_sequences("X", Y.sequences, "F(X)", F_X.sequences);
    for (std::size_t i = 0; i < Y.sequences.rows(); ++i) std::copy_n(&F_X(i, 0), F_X.cols, &Y(i, first));
    first += F_X.cols;
  });
  return Y;
}

}  // namespace tlm::checking
