#pragma once

#include <cstddef>
#include <type_traits>

/// The claims "T is rowwise", "T is autoregressive", "A is a causal kernel", derived by the compiler.
///
/// An operation T takes a matrix X and returns a matrix with the same number of rows.
///
///   T is rowwise         iff  T(X_i) = T(X)_i  for every X and every i ≤ n;
///   T is autoregressive  iff  T(X|i) = T(X)|i  for every X and every i ≤ n, where X|i is X reduced to i rows;
///   A is a causal kernel iff  A(X) is n×n and lower triangular, and A(X|i) is the leading i×i block of A(X).
///
/// (The third stands for "A is autoregressive" in the article's Claim about A(X)×B(X), which is ill-typed as printed:
/// A(X|i) has i columns, A(X)|i has n.)
///
/// Leaves declare what they are (`using declared = …`) and nothing else may: a struct with a formula of its own that
/// also declares something makes the rules below ambiguous. Everything else follows by the rules, a line each. (A struct
/// that derives from its formula and then computes something else is beyond any compiler; running it is not: proofs/.)
namespace tlm {

/// What a leaf declares of itself.
namespace is {
struct Rowwise {};         ///< T(X_i) = T(X)_i
struct Autoregressive {};  ///< T(X|i) = T(X)|i, but not rowwise
struct Constant {};        ///< T(X) does not depend on X, only on the environment.
struct Unrestricted {};    ///< None of these.
}  // namespace is

template <class... Factors>
struct Composition;
template <class F>
struct Res;
template <class F, std::size_t count>
struct Stack;
template <class A, class B>
struct KernelProduct;
template <class Encoder, class Decoder>
struct EncoderDecoder;
template <class Entry, class F>
struct Tied;
template <std::size_t n_heads, class Mask, class Q, class K, std::size_t block>
struct SoftmaxKernel;
struct Causal;
struct Unmasked;

/// T is a leaf that declares Claim of itself.
template <class T, class Claim>
concept Declares = std::is_same_v<typename T::declared, Claim>;

/// T is an object with a name, which derives from its formula T::definition.
template <class T>
concept Named = !std::is_same_v<typename T::definition, T>;

// --- T is rowwise --------------------------------------------------------------------------------------------------

/// T(X_i) = T(X)_i. (Article, "Rowwise and autoregressive matrix operations".)
template <class T>
inline constexpr bool rowwise = false;
/// A leaf is what it declares.
template <Declares<is::Rowwise> T>
inline constexpr bool rowwise<T> = true;
/// A name stands for its formula.
template <Named T>
inline constexpr bool rowwise<T> = rowwise<typename T::definition>;
/// Compositions of rowwise operations are rowwise.
template <class... F>
inline constexpr bool rowwise<Composition<F...>> = (rowwise<F> && ...);
/// X + F(X) is rowwise if F is.
template <class F>
inline constexpr bool rowwise<Res<F>> = rowwise<F>;
/// F_count ∘ … ∘ F_1 is rowwise if F is.
template <class F, std::size_t count>
inline constexpr bool rowwise<Stack<F, count>> = rowwise<F>;
/// F with a weight that it reads in several places is rowwise if F is.
template <class Entry, class F>
inline constexpr bool rowwise<Tied<Entry, F>> = rowwise<F>;

// --- T is autoregressive, A is a causal kernel -----------------------------------------------------------------------

/// T(X|i) = T(X)|i. Rowwise operations are autoregressive. (Article, the same section.)
template <class T>
inline constexpr bool autoregressive = rowwise<T>;
/// A(X) is lower triangular, and A(X|i) is its leading i×i block.
template <class A>
inline constexpr bool causal_kernel = false;
/// T(X) does not depend on X.
template <class T>
inline constexpr bool constant = false;
/// A leaf is what it declares.
template <Declares<is::Constant> T>
inline constexpr bool constant<T> = true;
/// A leaf is what it declares.
template <Declares<is::Autoregressive> T>
inline constexpr bool autoregressive<T> = true;
/// A name stands for its formula.
template <Named T>
inline constexpr bool autoregressive<T> = autoregressive<typename T::definition>;
/// Compositions of autoregressive operations are autoregressive.
template <class... F>
inline constexpr bool autoregressive<Composition<F...>> = (autoregressive<F> && ...);
/// X + F(X) is autoregressive if F is.
template <class F>
inline constexpr bool autoregressive<Res<F>> = autoregressive<F>;
/// F_count ∘ … ∘ F_1 is autoregressive if F is.
template <class F, std::size_t count>
inline constexpr bool autoregressive<Stack<F, count>> = autoregressive<F>;
// (Version 14 takes && behind > for a reference.)
// clang-format off
/// softmax(◺(Q(X)×K(X)ᵀ/c)) is a causal kernel if Q and K are autoregressive.
template <std::size_t n_heads, class Q, class K, std::size_t block>
inline constexpr bool causal_kernel<SoftmaxKernel<n_heads, Causal, Q, K, block>> =
    autoregressive<Q> && autoregressive<K>;
/// softmax(Q(X)×Kᵀ/c) with p rows of K that do not depend on X is an n×p matrix, autoregressive as Q is.
template <std::size_t n_heads, class Q, class K, std::size_t block>
inline constexpr bool autoregressive<SoftmaxKernel<n_heads, Unmasked, Q, K, block>> =
    autoregressive<Q> && constant<K>;
// clang-format on
/// X ↦ A(X)×B(X) is autoregressive if A is a causal kernel and B is autoregressive, which is the article's Claim;
/// and also if A is autoregressive and B does not depend on X.
template <class A, class B>
inline constexpr bool autoregressive<KernelProduct<A, B>> = (causal_kernel<A> && autoregressive<B>) ||
                                                            (autoregressive<A> && constant<B>);
/// (x, y) ↦ Decoder(y; Encoder(x)) is autoregressive in y if the decoder is.
template <class Encoder, class Decoder>
inline constexpr bool autoregressive<EncoderDecoder<Encoder, Decoder>> = autoregressive<Decoder>;
/// F with a weight that it reads in several places is autoregressive if F is.
template <class Entry, class F>
inline constexpr bool autoregressive<Tied<Entry, F>> = autoregressive<F>;

/// An operation whose earlier rows stand when rows are appended: autoregressive, or independent of its input.
template <class T>
concept Extensible = autoregressive<T> || constant<T>;

/// An operation that is rowwise by type.
template <class T>
concept Rowwise = rowwise<T>;

/// An operation that is autoregressive by type: what cached decoding and the loss ask for.
template <class T>
concept Autoregressive = autoregressive<T>;

}  // namespace tlm
