#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include <tlm/algebra/claims.hpp>
#include <tlm/algebra/kernel_product.hpp>
#include <tlm/algebra/residual.hpp>
#include <tlm/algebra/stack.hpp>
#include <tlm/algebra/symbol.hpp>
#include <tlm/layers/affine.hpp>
#include <tlm/layers/softmax_kernel.hpp>

/// The derivation of "T is autoregressive" as text, down to what the leaves declare.
namespace tlm {

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

/// An operation in the write-up's notation: its symbol, or its formula.
template <class T>
struct Notation;

/// The notation of T, in parentheses if it contains the operator within which it is to stand.
template <class T>
std::string within(const char* contained) {
  const std::string notation = Notation<T>::text();
  return notation.find(contained) == std::string::npos ? notation : "(" + notation + ")";
}

template <HasSymbol T>
struct Notation<T> {
  static std::string text() { return std::string(T::symbol); }
};
template <Anonymous T>
struct Notation<T> {
  static std::string text() { return Notation<typename T::definition>::text(); }
};
template <class F>
struct Notation<Composition<F>> : Notation<F> {};
template <class G, class... Fs>
struct Notation<Composition<G, Fs...>> {
  static std::string text() { return within<G>(" × ") + ((... + ("∘" + within<Fs>(" × ")))); }
};
template <class F>
struct Notation<Res<F>> {
  static std::string text() { return "Res(" + Notation<F>::text() + ")"; }
};
template <class F, std::size_t count>
struct Notation<Stack<F, count>> {
  static std::string text() {
    const std::string name = Notation<F>::text();
    return count == 1 ? name + "_1" : name + "_" + std::to_string(count) + (count > 2 ? "∘…∘" : "∘") + name + "_1";
  }
};
template <class A, class B>
struct Notation<KernelProduct<A, B>> {
  static std::string text() { return Notation<A>::text() + " × " + within<B>("∘"); }
};
template <std::size_t n_heads, class Mask, class Q, class K, std::size_t block>
struct Notation<SoftmaxKernel<n_heads, Mask, Q, K, block>> {
  static std::string text() {
    const std::string scores = within<Q>("∘") + " × " + within<K>("∘") + "ᵀ / √d_head";
    return std::is_same_v<Mask, Causal> ? "softmax(◺(" + scores + "))" : "softmax(" + scores + ")";
  }
};
template <Symbol letter, std::size_t rows, std::size_t cols, class Real>
struct Notation<Times<letter, rows, cols, Real>> {
  static std::string text() { return "(X×" + std::string(std::string_view(letter)) + ")"; }
};
template <Symbol letter, std::size_t cols, class Real>
struct Notation<Plus<letter, cols, Real>> {
  static std::string text() { return "(X+" + std::string(std::string_view(letter)) + ")"; }
};

/// Why T is what it is: the rule, and the derivations of the parts that the rule asks about.
template <class T>
struct Derivation;

/// What T is, by type.
template <class T>
constexpr std::string_view strongest_claim() {
  return rowwise<T>          ? "rowwise"
         : autoregressive<T> ? "autoregressive"
         : causal_kernel<T>  ? "a causal kernel"
                             : "none of it";
}

/// The line of T, and indented below it those of its parts.
template <class T>
std::string derivation(std::size_t depth = 0) {
  return std::string(2 * depth, ' ') + Notation<T>::text() + " is " + std::string(strongest_claim<T>()) + ": " +
         Derivation<T>::rule() + "\n" + Derivation<T>::parts(depth + 1);
}

template <Leaf T>
struct Derivation<T> {
  static std::string rule() { return "declared (and checked by proofs/4_leaves.cpp)"; }
  static std::string parts(std::size_t) { return ""; }
};
template <Named T>
struct Derivation<T> {
  using Definition = typename T::definition;
  static std::string rule() {
    const std::string name = Notation<T>::text(), formula = Notation<Definition>::text();
    return (name == formula ? "" : "it is " + formula + ", ") + Derivation<Definition>::rule();
  }
  static std::string parts(std::size_t depth) { return Derivation<Definition>::parts(depth); }
};
template <class F>
struct Derivation<Composition<F>> : Derivation<F> {};
template <class G, class... Fs>
struct Derivation<Composition<G, Fs...>> {
  static std::string rule() { return "a composition of what its factors are"; }
  static std::string parts(std::size_t depth) { return derivation<G>(depth) + (derivation<Fs>(depth) + ...); }
};
template <class F>
struct Derivation<Res<F>> {
  static std::string rule() { return "X + F(X) is what F is"; }
  static std::string parts(std::size_t depth) { return derivation<F>(depth); }
};
template <class F, std::size_t count>
struct Derivation<Stack<F, count>> {
  static std::string rule() { return "a composition of what each block is"; }
  static std::string parts(std::size_t depth) { return derivation<F>(depth); }
};
template <class A, class B>
struct Derivation<KernelProduct<A, B>> {
  static std::string rule() {
    return autoregressive<KernelProduct<A, B>> ? "a causal kernel times what is autoregressive (Claim)"
                                               : "nothing follows";
  }
  static std::string parts(std::size_t depth) { return derivation<A>(depth) + derivation<B>(depth); }
};
template <std::size_t n_heads, class Mask, class Q, class K, std::size_t block>
struct Derivation<SoftmaxKernel<n_heads, Mask, Q, K, block>> {
  static std::string rule() {
    return causal_kernel<SoftmaxKernel<n_heads, Mask, Q, K, block>>
               ? "both factors are autoregressive, and ◺ leaves j ≤ i"
               : "nothing follows";
  }
  static std::string parts(std::size_t depth) { return derivation<Q>(depth) + derivation<K>(depth); }
};

/// How the compiler derives what T is, line by line: each names an object in the write-up's notation, what it is and the
/// rule by which it is that; its parts follow, indented, down to the leaves' declarations.
template <class T>
std::string proof_tree() {
  return derivation<T>();
}

}  // namespace tlm
