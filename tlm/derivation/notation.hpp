// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

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

/// T has a symbol in the book.
template <class T>
concept HasSymbol = requires {
  T::symbol;
};

/// T defines how T(X) is written.
template <class T>
concept HasFormula = requires(const FormulaText& X) {
  T::written(X);
};

/// How a form is written. at(X) is its value at X. If it can be written without an X, as in Res(CA∘N_ca), name() is
/// that.
template <class Form>
struct FormNotation;

/// How T is written: at(X) and, if it can be written without an X, name(). By its symbol, or by a formula of its own, or
/// by its form. A leaf that has none of these is written T.
template <class T>
struct Notation {
  static FormulaText name() { return detail::symbol_of<T>(); }
  static FormulaText at(const FormulaText& X) { return name()(X); }
};
template <HasFormula T>
struct Notation<T> {
  static FormulaText at(const FormulaText& X) { return T::written(X); }
};
template <rules::Formula T>
requires(!HasSymbol<T> && !HasFormula<T>) struct Notation<T> : FormNotation<typename T::form> {
};

/// T can be written without an X.
template <class Notation>
concept HasName = requires {
  Notation::name();
};

/// T on its own: its name, or X ↦ T(X).
template <class T>
FormulaText notation() {
  if constexpr (HasName<Notation<T>>)
    return Notation<T>::name();
  else
    return {"X ↦ " + Notation<T>::at("X").text, FormulaText::map};
}

template <class F>
struct FormNotation<forms::Composition<F>> : Notation<F> {};
template <class G, class... Fs>
struct FormNotation<forms::Composition<G, Fs...>> {
  static FormulaText name() requires(HasName<Notation<G>>&&...&& HasName<Notation<Fs>>) {
    const auto factor = [](const FormulaText& name) { return name.within(FormulaText::map); };
    return {factor(Notation<G>::name()) + (("∘" + factor(Notation<Fs>::name())) + ...), FormulaText::composition};
  }
  static FormulaText at(const FormulaText& X) {
    return Notation<G>::at(FormNotation<forms::Composition<Fs...>>::at(X));
  }
};
template <class F, std::size_t count>
struct FormNotation<forms::Stack<F, count>> {
  static FormulaText name() {
    const std::string base = notation<F>().within(FormulaText::composition);
    const std::string last = base + "_" + std::to_string(count) + (count > 2 ? "∘…∘" : "∘");
    return {(count > 1 ? last : "") + base + "_1", count > 1 ? FormulaText::composition : FormulaText::none};
  }
  static FormulaText at(const FormulaText& X) { return name()(X); }
};
template <class F>
struct FormNotation<forms::Residual<F>> {
  static FormulaText name() { return FormulaText{"Res"}(notation<F>()); }
  static FormulaText at(const FormulaText& X) { return name()(X); }
};
template <class F, class... Fs>
struct FormNotation<forms::Concat<F, Fs...>> {
  static FormulaText at(const FormulaText& X) {
    return FormulaText{"Concat"}(
        {Notation<F>::at(X).text + (... + (", " + Notation<Fs>::at(X).text)), FormulaText::map});
  }
};
template <class F, std::size_t count>
struct FormNotation<forms::Heads<F, count>> {
  static FormulaText at(const FormulaText& X) {
    const auto head = [&](std::size_t i) {
      std::string symbol = Notation<F>::name().text;  // H_i
      return symbol.substr(0, symbol.size() - 1) + std::to_string(i) + "(" + X.text + ")";
    };
    return FormulaText{"Concat"}({head(1) + (count > 2 ? ", …, " : ", ") + head(count), FormulaText::map});
  }
};
template <class F>
struct FormNotation<forms::BlockOfColumns<F>> {
  static FormulaText at(const FormulaText& X) {
    const FormulaText F_X = Notation<F>::at(X);  // the i-th block of the columns of X×W is X×W,i
    return F_X.last == FormulaText::product ? FormulaText{F_X.text + ",i", FormulaText::product}
                                            : FormulaText{"columns_i"}(F_X);
  }
};
template <std::size_t d_head, class Mask, class Q, class K, class... Bias>
struct FormNotation<forms::SoftmaxKernel<d_head, Mask, Q, K, Bias...>> {
  static FormulaText at(const FormulaText& X) {
    const FormulaText Q_X{Notation<Q>::at(X).within(FormulaText::product)}, root{"√" + std::to_string(d_head)};
    FormulaText scores = Q_X * transposed(Notation<K>::at(X)) / root;
    ((scores = scores + Notation<Bias>::name()), ...);
    return FormulaText{"softmax"}(rules::follows<Mask, is::Full> ? scores : Notation<Mask>::at(scores));
  }
};
template <class A, class B>
struct FormNotation<forms::Product<A, B>> {
  static FormulaText at(const FormulaText& X) { return Notation<A>::at(X) * Notation<B>::at(X); }
};
template <class F>
struct FormNotation<forms::OfMemory<F>> {
  static FormulaText at(const FormulaText&) { return Notation<F>::at("M"); }
};
template <class G, class F>
struct FormNotation<forms::ThroughMemory<G, F>> {
  static FormulaText at(const FormulaText& X) {
    return {Notation<F>::at(X).text + " with " + Notation<G>::at("M").text + " for M", FormulaText::map};
  }
};
template <class Item, class F>
struct FormNotation<forms::Tied<Item, F>> : Notation<F> {};
template <class Encoder, class Decoder>
struct FormNotation<forms::EncoderDecoder<Encoder, Decoder>> {
  static FormulaText name() {
    return {"(x, X) ↦ " + Notation<Decoder>::at("X").text + " with M = " + Notation<Encoder>::at("x").text,
            FormulaText::map};
  }
  static FormulaText at(const FormulaText& x_X) { return name()(x_X); }
};

/// What T's symbol stands for, as in CA(X) = …; empty if T has no symbol or no formula.
template <class T>
std::string equation() {
  if constexpr (HasSymbol<T> && rules::Formula<T>) {
    using Form = FormNotation<typename T::form>;
    if constexpr (HasName<Form>)
      return Notation<T>::name().text + " = " + Form::name().text;
    else
      return Notation<T>::at("X").text + " = " + Form::at("X").text;
  } else {
    return {};
  }
}

}  // namespace tlm
