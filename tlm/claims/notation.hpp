// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include <tlm/algebra/rules.hpp>
#include <tlm/algebra/written.hpp>

/// Operations in the write-up's notation.
namespace tlm {

/// T has a symbol in the write-up.
template <class T>
concept HasSymbol = requires {
  T::symbol;
};

/// T says itself how T(X) is written.
template <class T>
concept HasFormula = requires(const Written& X) {
  T::written(X);
};

/// How a form is written: at(X) is its value at X; and where it can be written without an X, as in Res(CA∘N_ca), name() is
/// that.
template <class Form>
struct FormNotation;

/// How T is written if it has neither a symbol nor a formula of its own: by its form.
template <class T>
struct NotationOf;

/// How T is written: at(X) and, if it can be written without an X, name(). A leaf that says nothing of it is T.
template <class T>
struct Notation : NotationOf<T> {};
template <class T>
struct NotationOf {
  static Written name() { return "T"; }
  static Written at(const Written& X) { return name()(X); }
};
template <Formula T>
struct NotationOf<T> : FormNotation<typename T::form> {};
template <HasSymbol T>
struct Notation<T> {
  static Written name() { return T::symbol; }
  static Written at(const Written& X) { return name()(X); }
};
template <HasFormula T>
struct Notation<T> {
  static Written at(const Written& X) { return T::written(X); }
};
template <class T>
requires HasFormula<T> && HasSymbol<T>
struct Notation<T> {
  static Written at(const Written& X) { return T::written(X); }
};

/// T can be written without an X.
template <class Notation>
concept HasName = requires {
  Notation::name();
};

/// An operation on its own: its name, or X ↦ T(X).
template <class Notation>
Written notation() {
  if constexpr (HasName<Notation>)
    return Notation::name();
  else
    return {"X ↦ " + Notation::at("X").text, Written::map};
}

template <class F>
struct FormNotation<forms::Composition<F>> : Notation<F> {};
template <class G, class... Fs>
struct FormNotation<forms::Composition<G, Fs...>> {
  static Written name() requires(HasName<Notation<G>>&&...&& HasName<Notation<Fs>>) {
    const auto factor = [](const Written& name) { return name.within(Written::map); };
    return {factor(Notation<G>::name()) + (("∘" + factor(Notation<Fs>::name())) + ...), Written::composition};
  }
  static Written at(const Written& X) { return Notation<G>::at(FormNotation<forms::Composition<Fs...>>::at(X)); }
};
template <class F, std::size_t count>
struct FormNotation<forms::Stack<F, count>> {
  static Written name() {
    const std::string base = notation<Notation<F>>().within(Written::composition);
    const std::string last = base + "_" + std::to_string(count) + (count > 2 ? "∘…∘" : "∘");
    return {(count > 1 ? last : "") + base + "_1", count > 1 ? Written::composition : Written::none};
  }
  static Written at(const Written& X) { return name()(X); }
};
template <class F>
struct FormNotation<forms::Residual<F>> {
  static Written name() { return Written{"Res"}(notation<Notation<F>>()); }
  static Written at(const Written& X) { return name()(X); }
};
template <class F, class... Fs>
struct FormNotation<forms::Concat<F, Fs...>> {
  static Written at(const Written& X) {
    return Written{"Concat"}({Notation<F>::at(X).text + (... + (", " + Notation<Fs>::at(X).text)), Written::map});
  }
};
template <class F, std::size_t count>
struct FormNotation<forms::Heads<F, count>> {
  static Written at(const Written& X) {
    const auto head = [&](std::size_t i) {
      std::string symbol = Notation<F>::name().text;  // H_i
      return symbol.substr(0, symbol.size() - 1) + std::to_string(i) + "(" + X.text + ")";
    };
    return Written{"Concat"}({head(1) + (count > 2 ? ", …, " : ", ") + head(count), Written::map});
  }
};
template <class F>
struct FormNotation<forms::BlockOfColumns<F>> {
  static Written at(const Written& X) {
    const Written F_X = Notation<F>::at(X);  // the i-th block of the columns of X×W is X×W,i
    return F_X.last == Written::product ? Written{F_X.text + ",i", Written::product} : Written{"columns_i"}(F_X);
  }
};
template <std::size_t d_head, class Mask, class Q, class K, class... Bias>
struct FormNotation<forms::SoftmaxKernel<d_head, Mask, Q, K, Bias...>> {
  static Written at(const Written& X) {
    const std::string product = Notation<Q>::at(X).within(Written::product) + "×" + transposed(Notation<K>::at(X)).text;
    Written scores{product + " / √" + std::to_string(d_head), Written::product};
    ((scores = scores + Notation<Bias>::name()), ...);
    return Written{"softmax"}(follows<Mask, is::Full> ? scores : Notation<Mask>::at(scores));
  }
};
template <class A, class B>
struct FormNotation<forms::Product<A, B>> {
  static Written at(const Written& X) { return Notation<A>::at(X) * Notation<B>::at(X); }
};
template <class F>
struct FormNotation<forms::OfMemory<F>> {
  static Written at(const Written&) { return Notation<F>::at("M"); }
};
template <class G, class F>
struct FormNotation<forms::ThroughMemory<G, F>> {
  static Written at(const Written& X) {
    return {Notation<F>::at(X).text + " with " + Notation<G>::at("M").text + " for M", Written::map};
  }
};
template <class Entry, class F>
struct FormNotation<forms::Tied<Entry, F>> : Notation<F> {};
template <class Encoder, class Decoder>
struct FormNotation<forms::EncoderDecoder<Encoder, Decoder>> {
  static Written name() {
    return {"(x, X) ↦ " + Notation<Decoder>::at("X").text + " with M = " + Notation<Encoder>::at("x").text,
            Written::map};
  }
  static Written at(const Written& x_X) { return name()(x_X); }
};

/// What T's symbol stands for, as in CA(X) = …; empty if T has no symbol or no formula.
template <class T>
std::string equation() {
  if constexpr (HasSymbol<T> && Formula<T>) {
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
