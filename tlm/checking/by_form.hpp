// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <tuple>
#include <type_traits>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/rules.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/matrix/rearranged.hpp>

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
template <class T, class X>
CodomainOf<T> value_by_form(const T& layer, const X& x) {
  if constexpr (form_is_known<T>)
    return ByForm<typename T::form>::value(layer, x);
  else
    return apply(layer, x);
}

/// Pointers to the parts of a layer that its form names, in the order of the form. The layer visits them in this order
/// or in the reverse one. Throws std::logic_error if the layer has other parts.
template <class... F>
class PartsOf {
 public:
  template <class T>
  PartsOf(const T& layer, bool reversed) : reversed_{reversed} {
    look_into(layer);
    if (next_ != sizeof...(F)) refuse<std::logic_error>({"the layer has other parts than those that its form names"});
  }

  /// Part number k.
  template <std::size_t k>
  const auto& get() const {
    return *static_cast<const std::tuple_element_t<k, std::tuple<F...>>*>(parts_[k]);
  }

 private:
  template <class T>
  void look_into(const T& layer) {
    T::parts([this](std::size_t, const auto& part) { this->look_at(part); }, layer);
  }
  template <class Part>
  void look_at(const Part& part) {
    const std::size_t before = next_, place = reversed_ ? sizeof...(F) - 1 - next_ : next_;
    std::size_t k = 0;
    const auto match = [&]<class Fk>(const Fk*) {
      if constexpr (std::is_base_of_v<Fk, Part>)
        if (k == place && next_ == before) parts_[k] = static_cast<const Fk*>(&part), ++next_;
      ++k;
    };
    (match(static_cast<const F*>(nullptr)), ...);
    if constexpr (rules::Formula<Part>)
      if (next_ == before) look_into(part);
  }

  std::array<const void*, sizeof...(F)> parts_{};
  bool reversed_;
  std::size_t next_ = 0;
};

template <class... F>
struct ByForm<forms::Composition<F...>> {
  /// F_k∘…∘F_last, of all of them.
  template <std::size_t k = 0, class X>
  static auto from(const PartsOf<F...>& parts, const X& x) {
    if constexpr (k + 1 == sizeof...(F))
      return value_by_form(parts.template get<k>(), x);
    else
      return value_by_form(parts.template get<k>(), from<k + 1>(parts, x));
  }
  static auto value(const auto& layer, const auto& x) { return from(PartsOf<F...>{layer, true}, x); }
};

template <class F, std::size_t count>
struct ByForm<forms::Stack<F, count>> {
  template <class T, class X>
  static CodomainOf<T> value(const T& layer, X x) {
    T::parts([&](std::size_t, const F& f) { x = value_by_form(f, x); }, layer);
    return x;
  }
};

template <class F>
struct ByForm<forms::Residual<F>> {
  static auto value(const auto& layer, const auto& x) {
    return x + value_by_form(PartsOf<F>{layer, false}.template get<0>(), x);
  }
};

template <class... F>
struct ByForm<forms::Concat<F...>> {
  /// F_k(X) and those after it, side by side.
  template <std::size_t k = 0, class X>
  static auto from(const PartsOf<F...>& parts, const X& x) {
    const auto left = value_by_form(parts.template get<k>(), x);
    if constexpr (k + 1 == sizeof...(F))
      return left;
    else
      return side_by_side(left, from<k + 1>(parts, x));
  }
  static auto value(const auto& layer, const auto& x) { return from(PartsOf<F...>{layer, false}, x); }
};

}  // namespace tlm::checking
