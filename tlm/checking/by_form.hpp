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

/// T's form is known.
template <class T>
concept FormIsKnown = requires(const T& layer) {
  of_form(static_cast<typename T::form*>(nullptr), layer, Input<double>{});
};

/// T(X) by T's form, and by the forms of its parts.
template <class T, class Real>
Stacked<Real> value_by_form(const T& layer, const Input<Real>& X) {
  if constexpr (FormIsKnown<T>)
    return of_form(static_cast<typename T::form*>(nullptr), layer, X);
  else
    return Stacked<Real>{apply(layer, as<typename T::domain>(X))};
}

/// The same of a part. Throws std::logic_error if its form has other columns than the part.
template <class F, class Real>
Stacked<Real> value_of_part(const F& f, const Input<Real>& X) {
  auto F_X = value_by_form(f, X);
  if (F_X.cols != CodomainOf<F>::cols) refuse<std::logic_error>({"a part has other columns than its form says"});
  return F_X;
}

/// action(part) with each of the parts F… of a layer that its form names, in the order in which the layer visits them:
/// that of the form, or the reverse one. Throws std::logic_error if it lacks one of them.
template <class... F>
void for_each_part(const auto& layer, bool reversed, const auto& action) {
  std::size_t found = 0;
  const auto look_at = [&]<class Part>(const auto& self, const Part& part) -> void {
    if constexpr ((std::is_same_v<F, Part> || ...)) {
      constexpr bool is_named[] = {std::is_same_v<F, Part>...};
      if (found < sizeof...(F) && is_named[reversed ? sizeof...(F) - 1 - found : found]) {
        ++found;
        return action(part);
      }
    }
    if constexpr (rules::Formula<Part>) Part::parts([&](std::size_t, const auto& inner) { self(self, inner); }, part);
  };
  look_at(look_at, layer);
  if (found != sizeof...(F)) refuse<std::logic_error>({"the layer has other parts than those that its form names"});
}

/// The value at X of a layer of this form; an unknown form has none.
template <class... F, class Real>
Stacked<Real> of_form(forms::Composition<F...>*, const auto& layer, Input<Real> X) {
  for_each_part<F...>(layer, true, [&](const auto& f) { X = {{}, value_of_part(f, X)}; });
  return X.target;
}

template <class F, std::size_t count, class T, class Real>
Stacked<Real> of_form(forms::Stack<F, count>*, const T& layer, Input<Real> X) {
  std::size_t found = 0;
  T::parts([&](std::size_t, const F& f) { X = {{}, value_of_part(f, X)}, ++found; }, layer);
  if (found != count) refuse<std::logic_error>({"the layer has ", found, " parts, and its form names ", count});
  return X.target;
}

template <class F, class Real>
Stacked<Real> of_form(forms::Residual<F>*, const auto& layer, const Input<Real>& X) {
  Stacked<Real> Y = X.target;
  for_each_part<F>(layer, false, [&](const auto& f) {
    const auto F_X = value_of_part(f, X);
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
    const auto F_X = value_of_part(f, X);
    require_same_sequences("X", Y.sequences, "F(X)", F_X.sequences);
    for (std::size_t i = 0; i < Y.sequences.rows(); ++i) std::copy_n(&F_X(i, 0), F_X.cols, &Y(i, first));
    first += F_X.cols;
  });
  return Y;
}

}  // namespace tlm::checking
