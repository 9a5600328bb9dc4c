// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <limits>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <tlm/matrix/print.hpp>

/// How doctest prints what the tests compare: it knows numbers and texts, and would print {?} for all else.
namespace tlm::tests {

/// What has several parts, and no way of its own to be printed.
template <class T>
concept Range = requires(const T& parts, std::ostream& out) {
  parts.begin() != parts.end();
  requires !requires { out << parts; };
};
template <class T>
concept Tuple = !Range<T> && requires {
  std::tuple_size<T>::value;
};
/// A matrix of the library: it is printed on lines of its own.
template <class T>
concept AnyMatrix = requires {
  typename T::Real;
  { T::cols } -> std::convertible_to<std::size_t>;
};

/// A value as a failure prints it: numbers with all of their digits, {1, 2} for what has several parts, with an ellipsis
/// after the first 64.
template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  if constexpr (Range<T>) {
    std::size_t count = 0;
    for (const auto& part : value) {
      out << (count == 0 ? "" : ", ") << (count < 64 ? printed(part) : "…");
      if (count++ == 64) break;
    }
    return "{" + out.str() + "}";
  } else if constexpr (Tuple<T>) {
    return std::apply([](const auto&... part) { return printed(std::vector<std::string>{printed(part)...}); }, value);
  } else if constexpr (std::is_same_v<T, Sequences>) {
    std::vector<std::size_t> lengths;
    for (std::size_t s = 0; s < value.count(); ++s) lengths.push_back(value.length(s));
    return "sequences of " + printed(lengths) + " rows";
  } else {
    if constexpr (AnyMatrix<T>) {
      if (std::is_floating_point_v<typename T::Real>)
        out.precision(std::numeric_limits<typename T::Real>::max_digits10 + 4);  // digits after the point
      out << '\n';
    }
    if constexpr (std::is_floating_point_v<T>) out.precision(std::numeric_limits<T>::max_digits10);
    if constexpr (requires { out << value; })
      out << value;
    else
      out << "{?}";
    return out.str();
  }
}

/// text == Containing{"a part"}, and text == Beginning{"a beginning"}: a failure prints the text.
struct Containing {
  std::string part;
  friend bool operator==(const std::string& text, const Containing& it) {
    return text.find(it.part) != std::string::npos;
  }
  friend std::ostream& operator<<(std::ostream& out, const Containing& it) { return out << "… " << it.part << " …"; }
};
struct Beginning {
  std::string beginning;
  friend bool operator==(const std::string& text, const Beginning& it) { return text.starts_with(it.beginning); }
  friend std::ostream& operator<<(std::ostream& out, const Beginning& it) { return out << it.beginning << " …"; }
};

/// The message with which an action refuses, by an exception of this kind; nothing if it does not refuse. Any other
/// exception passes through.
template <class Refusal = std::exception, class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Refusal& refused) {
    return refused.what();
  }
  return "";
}

}  // namespace tlm::tests

/// For what doctest does not print itself.
template <class T>
requires tlm::tests::Range<T> || tlm::tests::Tuple<T> || tlm::tests::AnyMatrix<T> || std::is_same_v<T, tlm::Sequences>
struct doctest::StringMaker<T> {
  static String convert(const T& value) { return tlm::tests::printed(value).c_str(); }
};
