// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <concepts>
#include <type_traits>

#include <tlm/base/refuse.hpp>

/// What the arithmetics of the checks refuse. Each refusal is one sentence of the compiler, however many arithmetics a
/// layer runs over.
namespace tlm::checking {

/// The condition under which numbers are compared.
template <bool compared>
struct HasOrder : detail::Condition {
  static_assert(
      compared,
      "a layer does not branch on values: a prime field and sets of positions have no order, and what is equal there "
      "is equal always: cases are told apart by functions of numbers, such as relu(x), relu_derivative(x) and "
      "maximum(numbers, count) of tlm/numbers/rows.hpp");
};

/// The condition under which a function is known, for these numbers or for others.
template <bool known>
struct IsKnown : detail::Condition {
  static_assert(
      known,
      "tlm::check runs a layer over numbers that are not float or double: functions of them are those of "
      "tlm/numbers/functions.hpp, called as exp(x) after using tlm::exp, and constants are Real(1) / Real(2); "
      "CONTRIBUTING.md says how to add a function");
};

/// A number of C++.
template <class Real>
concept Arithmetic = std::is_arithmetic_v<Real>;

/// True if two numbers are the same. Checks ask this; layers must not.
template <Arithmetic Real>
constexpr bool same(Real a, Real b) {
  return a == b;
}

/// The base of an arithmetic that is not ℝ, which has + − × ÷. What only numbers of ℝ can do compiles up to the sentence
/// that refuses it.
///
/// A function of ℝ is refused where its argument becomes a double. Its result may become a number again, so that no
/// second error follows.
template <class Numbers>
struct Refusals {
  friend bool operator==(const Numbers&, const Numbers&) { return order() == 0; }
  friend bool operator==(const Numbers&, Arithmetic auto) { return order() == 0; }
  friend std::strong_ordering operator<=>(const Numbers&, const Numbers&) { return order(); }
  friend std::strong_ordering operator<=>(const Numbers&, Arithmetic auto) { return order(); }

  friend constexpr Numbers& operator+=(Numbers& a, const auto& b) { return a = a + b; }
  friend constexpr Numbers& operator-=(Numbers& a, const auto& b) { return a = a - b; }
  friend constexpr Numbers& operator*=(Numbers& a, const auto& b) { return a = a * b; }
  friend constexpr Numbers& operator/=(Numbers& a, const auto& b) { return a = a / b; }

  template <Arithmetic Real>
  explicit(!std::same_as<Real, double>) constexpr operator Real() const {
    return Real(known());
  }

  friend Numbers operator+(const Numbers& a, Arithmetic auto) { return known() ? a : a; }
  friend Numbers operator+(Arithmetic auto, const Numbers& a) { return known() ? a : a; }
  friend Numbers operator-(const Numbers& a, Arithmetic auto) { return known() ? a : a; }
  friend Numbers operator-(Arithmetic auto, const Numbers& a) { return known() ? a : a; }
  friend Numbers operator*(const Numbers& a, Arithmetic auto) { return known() ? a : a; }
  friend Numbers operator*(Arithmetic auto, const Numbers& a) { return known() ? a : a; }
  friend Numbers operator/(const Numbers& a, Arithmetic auto) { return known() ? a : a; }
  friend Numbers operator/(Arithmetic auto, const Numbers& a) { return known() ? a : a; }

 private:
  static constexpr std::strong_ordering order() {
    static_assert(HasOrder<sizeof(Numbers) == 0>::value);
    return std::strong_ordering::equal;
  }
  static constexpr bool known() {
    static_assert(IsKnown<sizeof(Numbers) == 0>::value);
    return true;
  }
};

}  // namespace tlm::checking
