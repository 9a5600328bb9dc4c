// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <tlm/matrix/table.hpp>

/// How doctest prints what the tests compare: it knows numbers and texts, and would print {?} for all else.
namespace tlm::tests {

/// A value as a failure prints it: numbers with all of their digits, {1, 2} for what has several parts.
template <class T>
std::string printed(const T& value);

namespace printing {

/// The first few parts of something long, followed by an ellipsis.
inline constexpr std::size_t most = 64;

template <class Range>
std::string all_of(const Range& parts) {
  std::string text;
  std::size_t count = 0;
  for (const auto& part : parts) {
    if (count++ == most) return "{" + text + ", …}";
    text += (text.empty() ? "" : ", ") + printed(part);
  }
  return "{" + text + "}";
}

template <class T>
struct Printer {
  static std::string text(const T& value) {
    std::ostringstream out;
    if constexpr (std::is_floating_point_v<T>) out.precision(std::numeric_limits<T>::max_digits10);
    out << value;
    return out.str();
  }
};
template <class... T>
struct Printer<std::vector<T...>> {
  static std::string text(const std::vector<T...>& parts) { return all_of(parts); }
};
template <class... T>
struct Printer<std::set<T...>> {
  static std::string text(const std::set<T...>& parts) { return all_of(parts); }
};
template <class... T>
struct Printer<std::multiset<T...>> {
  static std::string text(const std::multiset<T...>& parts) { return all_of(parts); }
};
template <class... T>
struct Printer<std::tuple<T...>> {
  static std::string text(const std::tuple<T...>& parts) {
    return std::apply([](const auto&... part) { return all_of(std::vector<std::string>{printed(part)...}); }, parts);
  }
};
template <class A, class B>
struct Printer<std::pair<A, B>> {
  static std::string text(const std::pair<A, B>& pair) {
    return all_of(std::vector{printed(pair.first), printed(pair.second)});
  }
};
/// The numbers of rows of each sequence.
template <>
struct Printer<Sequences> {
  static std::string text(const Sequences& sequences) {
    std::vector<std::size_t> lengths;
    for (std::size_t s = 0; s < sequences.count(); ++s) lengths.push_back(sequences.length(s));
    return "sequences of " + all_of(lengths) + " rows";
  }
};
/// The library's table, with all digits.
template <auto rows, std::size_t cols, class Real>
struct Printer<Matrix<rows, cols, Real>> {
  static std::string text(const Matrix<rows, cols, Real>& X) {
    std::ostringstream out;
    if constexpr (std::is_floating_point_v<Real>) out.precision(std::numeric_limits<Real>::max_digits10);
    out << '\n' << X;
    return out.str();
  }
};

}  // namespace printing

template <class T>
std::string printed(const T& value) {
  return printing::Printer<T>::text(value);
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

/// For what doctest does not print itself.
template <class T>
struct Prints {
  static doctest::String convert(const T& value) { return printed(value).c_str(); }
};

}  // namespace tlm::tests

namespace doctest {
template <class... T>
struct StringMaker<std::vector<T...>> : tlm::tests::Prints<std::vector<T...>> {};
template <class... T>
struct StringMaker<std::set<T...>> : tlm::tests::Prints<std::set<T...>> {};
template <class... T>
struct StringMaker<std::multiset<T...>> : tlm::tests::Prints<std::multiset<T...>> {};
template <class... T>
struct StringMaker<std::tuple<T...>> : tlm::tests::Prints<std::tuple<T...>> {};
template <>
struct StringMaker<tlm::Sequences> : tlm::tests::Prints<tlm::Sequences> {};
template <auto rows, std::size_t cols, class Real>
struct StringMaker<tlm::Matrix<rows, cols, Real>> : tlm::tests::Prints<tlm::Matrix<rows, cols, Real>> {};
}  // namespace doctest
