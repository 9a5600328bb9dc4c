// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

#include <tlm/base/language.hpp>

namespace tlm {

/// A formula as the book writes it: its text, and its last operation, which decides whether it needs parentheses.
///
/// A leaf that is not written as symbol(X) defines static auto written(const auto& X), such as { return X * "W"; }.
struct FormulaText {
  /// From the loosest to the tightest.
  enum Operation { map, composition, sum, product, none };

  std::string text;
  Operation last = none;

  template <std::convertible_to<std::string_view> Letter>
  FormulaText(const Letter& letter) : text{std::string_view(letter)} {}
  FormulaText(std::string formula, Operation operation) : text{std::move(formula)}, last{operation} {}

  /// In parentheses, unless its last operation binds more tightly than this one.
  std::string within(Operation operation) const { return last > operation ? text : "(" + text + ")"; }

  friend FormulaText operator+(const FormulaText& a, const FormulaText& b) {
    return {a.within(map) + " + " + b.within(map), sum};
  }
  friend FormulaText operator*(const FormulaText& a, const FormulaText& b) {
    return {a.within(sum) + "×" + b.within(product), product};
  }
  friend FormulaText operator/(const FormulaText& a, const FormulaText& b) {
    return {a.within(sum) + " / " + b.within(product), product};
  }
  /// Mᵀ
  friend FormulaText transposed(const FormulaText& M) { return {M.within(product) + "ᵀ", none}; }

  /// T(X)
  FormulaText operator()(const FormulaText& X) const { return {within(composition) + "(" + X.text + ")", none}; }
};

}  // namespace tlm
