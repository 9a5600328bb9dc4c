// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tlm/language.hpp>

namespace tlm {

/// A formula as the write-up writes it: its text, and its last operation, by which it is set in parentheses or not.
///
/// A leaf that is not written as symbol(X) says how it is: static Written written(const Written& X).
struct Written {
  /// From the loosest to the tightest.
  enum Operation { map, composition, sum, product, none };

  std::string text;
  Operation last = none;

  Written(std::string_view symbol) : text{symbol} {}
  Written(const char* symbol) : text{symbol} {}
  Written(std::string formula, Operation operation) : text{std::move(formula)}, last{operation} {}

  /// In parentheses, unless its last operation binds more tightly than this one.
  std::string within(Operation operation) const { return last > operation ? text : "(" + text + ")"; }

  friend Written operator+(const Written& a, const Written& b) {
    return {(a.last == map ? a.within(map) : a.text) + " + " + (b.last == map ? b.within(map) : b.text), sum};
  }
  friend Written operator*(const Written& a, const Written& b) {
    return {a.within(sum) + "×" + b.within(product), product};
  }
  friend Written operator/(const Written& a, const Written& b) {
    return {a.within(sum) + " / " + b.within(product), product};
  }
  /// Mᵀ
  friend Written transposed(const Written& M) { return {M.within(product) + "ᵀ", none}; }

  /// T(X)
  Written operator()(const Written& X) const { return {within(composition) + "(" + X.text + ")", none}; }
};

}  // namespace tlm
