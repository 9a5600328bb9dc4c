#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include <tlm/algebra/claims.hpp>
#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/kernel_product.hpp>
#include <tlm/algebra/residual.hpp>
#include <tlm/algebra/stack.hpp>
#include <tlm/algebra/symbol.hpp>
#include <tlm/algebra/tied.hpp>
#include <tlm/layers/affine.hpp>
#include <tlm/layers/from_memory.hpp>
#include <tlm/layers/positional_encoding.hpp>
#include <tlm/layers/softmax_kernel.hpp>
#include <tlm/layers/tied_embedding.hpp>

/// The derivation of "T is autoregressive" as text, down to what the leaves declare. (What the library's leaves declare is
/// checked by running them: proofs/4_leaves.cpp.)
namespace tlm {

// --- The write-up's notation -----------------------------------------------------------------------------------------

/// T has a symbol in the write-up.
template <class T>
concept HasSymbol = requires {
  T::symbol;
};

/// T has a formula but no symbol of its own.
template <class T>
concept Anonymous = Named<T> && !HasSymbol<T>;

/// T declares what it is.
template <class T>
concept Leaf = requires {
  typename T::declared;
};

/// How the write-up writes T: at("X") is T(X); and where T can be written without an X, as in Res(CA∘N_ca), name() is
/// that. A leaf without a symbol is T.
template <class T>
struct Notation {
  static std::string name() { return "T"; }
  static std::string at(const std::string& X) { return "T(" + X + ")"; }
};

/// T can be written without an X.
template <class T>
concept HasName = requires {
  Notation<T>::name();
};

/// T on its own: its name, or X ↦ T(X).
template <class T>
std::string notation() {
  if constexpr (HasName<T>)
    return Notation<T>::name();
  else
    return "X ↦ " + Notation<T>::at("X");
}

/// A formula as a factor: in parentheses if it has one of these operators outside of its own parentheses.
inline std::string factor(const std::string& formula, std::initializer_list<std::string_view> operators) {
  std::string outside;
  int depth = 0;
  for (const char c : formula) {
    depth += (c == '(') - (c == ')');
    if (depth == 0) outside += c;
  }
  for (const std::string_view sign : operators)
    if (outside.find(sign) != std::string::npos) return "(" + formula + ")";
  return formula;
}

template <HasSymbol T>
struct Notation<T> {
  static std::string name() { return std::string(T::symbol); }
  static std::string at(const std::string& X) { return name() + "(" + X + ")"; }
};
template <Anonymous T>
struct Notation<T> : Notation<typename T::definition> {};
template <class F>
struct Notation<Composition<F>> : Notation<F> {};
template <class G, class... Fs>
struct Notation<Composition<G, Fs...>> {
  static std::string name() requires(HasName<G>&&...&& HasName<Fs>) {
    return Notation<G>::name() + (("∘" + Notation<Fs>::name()) + ...);
  }
  static std::string at(const std::string& X) { return Notation<G>::at(Notation<Composition<Fs...>>::at(X)); }
};
template <class F>
struct Notation<Res<F>> {
  static std::string name() { return "Res(" + notation<F>() + ")"; }
  static std::string at(const std::string& X) { return name() + "(" + X + ")"; }
};
template <class F, std::size_t count>
struct Notation<Stack<F, count>> {
  static std::string name() {
    const std::string F_1 = factor(notation<F>(), {"∘", "↦"}) + "_1";
    const std::string F_count = factor(notation<F>(), {"∘", "↦"}) + "_" + std::to_string(count);
    return count == 1 ? F_1 : F_count + (count > 2 ? "∘…∘" : "∘") + F_1;
  }
  static std::string at(const std::string& X) { return factor(name(), {"∘"}) + "(" + X + ")"; }
};
template <class A, class B>
struct Notation<KernelProduct<A, B>> {
  static std::string at(const std::string& X) {
    return Notation<A>::at(X) + "×" + factor(Notation<B>::at(X), {"×", " + "});
  }
};
template <std::size_t n_heads, class Mask, class Q, class K, std::size_t block>
struct Notation<SoftmaxKernel<n_heads, Mask, Q, K, block>> {
  static std::string at(const std::string& X) {
    const std::string d_head = std::to_string(SoftmaxKernel<n_heads, Mask, Q, K, block>::d_head);
    const std::string scores =
        factor(Notation<Q>::at(X), {"×", " + "}) + "×" + factor(Notation<K>::at(X), {"×", " + "}) + "ᵀ / √" + d_head;
    return std::is_same_v<Mask, Causal> ? "softmax(◺(" + scores + "))" : "softmax(" + scores + ")";
  }
};
template <Symbol letter, std::size_t rows, std::size_t cols, class Real>
struct Notation<Times<letter, rows, cols, Real>> {
  static std::string at(const std::string& X) {
    return factor(X, {" + "}) + "×" + std::string(std::string_view(letter));
  }
};
template <Symbol letter, std::size_t cols, class Real>
struct Notation<Plus<letter, cols, Real>> {
  static std::string at(const std::string& X) { return X + " + " + std::string(std::string_view(letter)); }
};
template <Symbol letter, std::size_t vocab_size, std::size_t d_model, class Real>
struct Notation<TiedEmbedding<letter, vocab_size, d_model, Real>> {
  static std::string at(const std::string& x) { return "OneHot(" + x + ")×" + std::string(std::string_view(letter)); }
};
template <Symbol letter, std::size_t vocab_size, std::size_t d_model, class Real>
struct Notation<TiedOutput<letter, vocab_size, d_model, Real>> {
  static std::string at(const std::string& X) {
    return factor(X, {" + "}) + "×" + std::string(std::string_view(letter)) + "ᵀ";
  }
};
template <std::size_t max_len, std::size_t d_model, class Real>
struct Notation<ConstantPositionalEncoding<max_len, d_model, Real>> {
  static std::string at(const std::string& X) { return X + " + W_p"; }
};
template <class F>
struct Notation<FromMemory<F>> {
  static std::string at(const std::string&) { return Notation<F>::at("M"); }
};
template <class Entry, class F>
struct Notation<Tied<Entry, F>> : Notation<F> {};
template <class Encoder, class Decoder>
struct Notation<EncoderDecoder<Encoder, Decoder>> {
  static std::string name() { return "((x, X) ↦ " + Notation<Decoder>::at("X") + " with M = " + memory() + ")"; }
  static std::string at(const std::string& x_X) { return name() + x_X; }

 private:
  static std::string memory() { return Notation<Encoder>::at("x"); }
};

// --- The rules -------------------------------------------------------------------------------------------------------

/// What T is, by type.
template <class T>
constexpr std::string_view strongest_claim() {
  return rowwise<T>          ? "rowwise"
         : autoregressive<T> ? "autoregressive"
         : causal_kernel<T>  ? "a causal kernel"
         : constant<T>       ? "independent of X"
                             : "not known to be autoregressive";
}

/// Why T is what it is: the rule, and the derivations of the parts that the rule asks about.
template <class T>
struct Derivation;

/// The line of T, and indented below it those of its parts.
template <class T>
std::string derivation(std::size_t depth = 0) {
  return std::string(2 * depth, ' ') + notation<T>() + " is " + std::string(strongest_claim<T>()) + ": " +
         Derivation<T>::rule() + "\n" + Derivation<T>::parts(depth + 1);
}

/// The rule for a composition, of whatever factors.
template <class T>
std::string rule_of_composition() {
  return rowwise<T>          ? "compositions of rowwise operations are rowwise"
         : autoregressive<T> ? "rowwise operations are autoregressive, and so are compositions of autoregressive ones"
                             : "a composition is autoregressive if all of its factors are";
}

template <Leaf T>
struct Derivation<T> {
  static std::string rule() { return "declared"; }
  static std::string parts(std::size_t) { return ""; }
};
template <Anonymous T>
struct Derivation<T> : Derivation<typename T::definition> {};
template <Named T>
struct Derivation<T> {
  using Definition = typename T::definition;
  static std::string rule() { return equation() + "; " + Derivation<Definition>::rule(); }
  static std::string parts(std::size_t depth) { return Derivation<Definition>::parts(depth); }

 private:
  static std::string equation() {
    if constexpr (HasName<Definition>)
      return Notation<T>::name() + " = " + Notation<Definition>::name();
    else
      return Notation<T>::at("X") + " = " + Notation<Definition>::at("X");
  }
};
template <class F>
struct Derivation<Composition<F>> : Derivation<F> {};
template <class G, class... Fs>
struct Derivation<Composition<G, Fs...>> {
  static std::string rule() { return rule_of_composition<Composition<G, Fs...>>(); }
  static std::string parts(std::size_t depth) { return derivation<G>(depth) + (derivation<Fs>(depth) + ...); }
};
template <class F>
struct Derivation<Res<F>> {
  static std::string rule() {
    return rowwise<Res<F>> ? "X + F(X) is rowwise if F is" : "X + F(X) is autoregressive if F is";
  }
  static std::string parts(std::size_t depth) { return derivation<F>(depth); }
};
template <class F, std::size_t count>
struct Derivation<Stack<F, count>> {
  static std::string rule() { return rule_of_composition<Stack<F, count>>(); }
  static std::string parts(std::size_t depth) { return derivation<F>(depth); }
};
template <class A, class B>
struct Derivation<KernelProduct<A, B>> {
  static std::string rule() {
    return constant<B> ? "A(X)×B is autoregressive if A is and B does not depend on X"
                       : "A(X)×B(X) is autoregressive if A is a causal kernel and B is autoregressive (Claim)";
  }
  static std::string parts(std::size_t depth) { return derivation<A>(depth) + derivation<B>(depth); }
};
template <std::size_t n_heads, class Mask, class Q, class K, std::size_t block>
struct Derivation<SoftmaxKernel<n_heads, Mask, Q, K, block>> {
  static std::string rule() {
    return std::is_same_v<Mask, Causal> ? "◺ leaves j ≤ i, and both factors are autoregressive"
           : constant<K>                ? "row i depends on row i of the first factor alone, which is autoregressive"
                                        : "every row sees every other";
  }
  static std::string parts(std::size_t depth) { return derivation<Q>(depth) + derivation<K>(depth); }
};
template <class Entry, class F>
struct Derivation<Tied<Entry, F>> : Derivation<F> {};
template <class Encoder, class Decoder>
struct Derivation<EncoderDecoder<Encoder, Decoder>> {
  static std::string rule() { return "autoregressive in X if it is for every memory M, whatever the encoder is"; }
  static std::string parts(std::size_t depth) { return derivation<Decoder>(depth); }
};

/// How the compiler derives what T is, line by line: each names an object in the write-up's notation, what it is and the
/// rule by which it is that; its parts follow, indented, down to the leaves' declarations.
template <class T>
std::string proof_tree() {
  return derivation<T>();
}

}  // namespace tlm
