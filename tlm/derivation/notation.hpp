// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tlm/algebra/names.hpp>
#include <tlm/algebra/parts.hpp>
#include <tlm/algebra/rules.hpp>
#include <tlm/base/language.hpp>

/// Operations in the book's notation.
namespace tlm {

/// A formula as the book writes it: its text, and its last operation, which decides whether it needs parentheses.
///
/// A leaf that is not written as symbol(X) defines static auto written(const auto& X), such as { return X * "W"; }.
struct FormulaText {
  /// From the loosest to the tightest.
  enum Operation { map, composition, sum, product, none };

  std::string text;
  Operation last = none;
  std::vector<FormulaText> function{};  ///< F if this is F(X), G∘F if it is G(F(X)), or none.

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
  FormulaText operator()(const FormulaText& X) const {
    FormulaText T_X{within(composition) + "(" + X.text + ")", none};
    if (X.text == "X" && X.last == none) T_X.function = {*this};  // X itself
    for (const FormulaText& F : X.function)                       // X is F(X)
      T_X.function = {{within(map) + "∘" + F.within(map), composition}};
    return T_X;
  }
};

/// T has a symbol in the book.
template <class T>
concept HasSymbol = requires {
  T::symbol;
};

/// T(X): by a formula of T's own, or by its symbol, or by its form. A leaf that has none of these is written T.
template <class T>
FormulaText formula(const FormulaText& X) {
  if constexpr (requires { T::written(X); })
    return T::written(X);
  else if constexpr (rules::Formula<T> && !HasSymbol<T>)
    return of_form(static_cast<typename T::form*>(nullptr), X);
  else
    return FormulaText{detail::symbol_of<T>()}(X);
}

/// T on its own: F of F(X), as in Res(CA∘N_ca), or else X ↦ T(X).
template <class T>
FormulaText notation() {
  const FormulaText T_X = formula<T>("X");
  return T_X.function.empty() ? FormulaText{"X ↦ " + T_X.text, FormulaText::map} : T_X.function[0];
}

/// T(X) by the form of T: a function for each form, which `formula` finds by argument-dependent lookup.
template <class G, class... Fs>
FormulaText of_form(forms::Composition<G, Fs...>*, const FormulaText& X) {
  if constexpr (sizeof...(Fs) == 0)
    return formula<G>(X);
  else
    return formula<G>(of_form(static_cast<forms::Composition<Fs...>*>(nullptr), X));
}
template <class F, std::size_t count>
FormulaText of_form(forms::Stack<F, count>*, const FormulaText& X) {
  const std::string base = notation<F>().within(FormulaText::composition);
  const std::string last = base + "_" + std::to_string(count) + (count > 2 ? "∘…∘" : "∘");
  return FormulaText{(count > 1 ? last : "") + base + "_1",
                     count > 1 ? FormulaText::composition : FormulaText::none}(X);
}
template <class F>
FormulaText of_form(forms::Residual<F>*, const FormulaText& X) {
  return FormulaText{"Res"}(notation<F>())(X);
}
template <class F, class... Fs>
FormulaText of_form(forms::Concat<F, Fs...>*, const FormulaText& X) {
  return FormulaText{"Concat"}({formula<F>(X).text + (... + (", " + formula<Fs>(X).text)), FormulaText::map});
}
template <class F, std::size_t count>
FormulaText of_form(forms::Heads<F, count>*, const FormulaText& X) {
  const auto head = [&](std::size_t i) {
    std::string symbol = notation<F>().text;  // H_i
    return symbol.substr(0, symbol.size() - 1) + std::to_string(i) + "(" + X.text + ")";
  };
  return FormulaText{"Concat"}({head(1) + (count > 2 ? ", …, " : ", ") + head(count), FormulaText::map});
}
template <class F>
FormulaText of_form(forms::BlockOfColumns<F>*, const FormulaText& X) {
  const FormulaText F_X = formula<F>(X);  // the i-th block of the columns of X×W is X×W,i
  return F_X.last == FormulaText::product ? FormulaText{F_X.text + ",i", FormulaText::product}
                                          : FormulaText{"columns_i(" + F_X.text + ")", FormulaText::none};
}
template <std::size_t d_head, class Mask, class Q, class K, class... Bias>
FormulaText of_form(forms::SoftmaxKernel<d_head, Mask, Q, K, Bias...>*, const FormulaText& X) {
  const FormulaText Q_X{formula<Q>(X).within(FormulaText::product)}, root{"√" + std::to_string(d_head)};
  FormulaText scores = Q_X * transposed(formula<K>(X)) / root;
  ((scores = scores + notation<Bias>()), ...);
  return FormulaText{"softmax"}(rules::follows<Mask, is::Full> ? scores : formula<Mask>(scores));
}
template <class A, class B>
FormulaText of_form(forms::Product<A, B>*, const FormulaText& X) {
  return formula<A>(X) * formula<B>(X);
}
template <class F>
FormulaText of_form(forms::OfMemory<F>*, const FormulaText&) {
  return formula<F>("M");
}
template <class G, class F>
FormulaText of_form(forms::ThroughMemory<G, F>*, const FormulaText& X) {
  return {formula<F>(X).text + " with " + formula<G>("M").text + " for M", FormulaText::map};
}
template <class Item, class F>
FormulaText of_form(forms::Tied<Item, F>*, const FormulaText& X) {
  return formula<F>(X);
}
template <class Encoder, class Decoder>
FormulaText of_form(forms::EncoderDecoder<Encoder, Decoder>*, const FormulaText& x_X) {
  return FormulaText{"(x, X) ↦ " + formula<Decoder>("X").text + " with M = " + formula<Encoder>("x").text,
                     FormulaText::map}(x_X);
}

/// What T's symbol stands for, as in CA(X) = …; empty if T has no symbol or no formula.
template <class T>
std::string equation() {
  if constexpr (HasSymbol<T> && rules::Formula<T>) {
    const FormulaText T_X = of_form(static_cast<typename T::form*>(nullptr), "X");
    return T_X.function.empty() ? formula<T>("X").text + " = " + T_X.text
                                : notation<T>().text + " = " + T_X.function[0].text;
  } else {
    return {};
  }
}

}  // namespace tlm
