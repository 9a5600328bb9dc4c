// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <tlm/algebra/names.hpp>
#include <tlm/base/refuse.hpp>

/// The claims "T is rowwise", "T is autoregressive", "A is a causal kernel", and how the compiler derives them.
///
/// An operation T takes a matrix X and returns a matrix with the same number of rows; a kernel A returns an n×n matrix.
/// (Where they read a memory M, F(M) has its rows, and a kernel a column for each of them.)
///
///   T is rowwise         iff  T(X_i) = T(X)_i  for every X and every i ≤ n;
///   T is autoregressive  iff  T(X|i) = T(X)|i  for every X and every i ≤ n, where X|i is X reduced to i rows;
///   A is a causal kernel iff  A(X) is n×n and lower triangular, and A(X|i) is the leading i×i block of A(X).
///
/// (The third replaces "A is autoregressive" in the article's Claim about A(X)×B(X). That is ill-typed as printed:
/// A(X|i) has i columns, A(X)|i has n. With several heads, it is required of each.)
///
/// A leaf declares what it is: `using declared = …`. Nothing else may declare. What is made of other operations has a
/// form, `using form = …`, and what it is follows from the rules of that form. All rules are below, each once: its
/// name, its sentence, its conclusion and its premises. The booleans at the end of this file read them, and so do the
/// printed derivations (tlm/derivation/). (A struct may derive from its formula and compute something else. No compiler
/// sees that; the checks that run it do: tlm/checking/.)
///
/// A claim is about T without noise: Dropout is called rowwise, though T(X; noise) is not. So `advance` takes no noise.
namespace tlm {

/// What can be said of an operation, of a mask or of a bias.
namespace is {
/// Something that can be said, and how it is written after "is".
template <Symbol text_>
struct Claim {
  static constexpr std::string_view text = text_;
};
/// T(X_i) = T(X)_i
struct Rowwise : Claim<"rowwise"> {};
/// T(X|i) = T(X)|i. As a declaration: and not rowwise.
struct Autoregressive : Claim<"autoregressive"> {};
/// A(X) is lower triangular, and A(X|i) is its leading i×i block.
struct CausalKernel : Claim<"a causal kernel"> {};
/// T(X) does not depend on X, only on the environment.
struct Constant : Claim<"independent of X"> {};
/// None of these.
struct Unrestricted : Claim<"unrestricted"> {};
/// A mask that leaves the entries with j ≤ i, and no others.
struct LowerTriangular : Claim<"lower triangular"> {};
/// A mask that leaves every entry.
struct Full : Claim<"full"> {};
/// A bias whose entry (i, j) depends on the positions i and j alone, neither on X nor on n.
struct Positional : Claim<"a function of i and j"> {};
}  // namespace is

/// The forms in which operations are made of others, as the book writes them. Forms are used as operations too, where
/// only a formula names the operation, such as a head of attention.
namespace forms {
template <class... F>
struct Composition;  ///< F_1 ∘ … ∘ F_k; the last is applied first.
template <class F, std::size_t count>
struct Stack;  ///< F_count ∘ … ∘ F_1: the same operation with other weights.
template <class F>
struct Residual;  ///< X ↦ X + F(X)
template <class... F>
struct Concat;  ///< X ↦ Concat(F_1(X), …, F_k(X)): side by side.
template <class F, std::size_t count>
struct Heads;  ///< X ↦ Concat(F_1(X), …, F_count(X)): the same operation with other weights.
/// X ↦ the i-th block of columns of F(X)
template <class F>
struct BlockOfColumns {
  using form = BlockOfColumns;
};
/// X ↦ softmax(mask(Q(X)×K(X)ᵀ/√d_head + bias))
template <std::size_t d_head, class Mask, class Q, class K, class... Bias>
struct SoftmaxKernel {
  using form = SoftmaxKernel;
};
/// X ↦ A(X)×B(X)
template <class A, class B>
struct Product {
  using form = Product;
};
/// H_i(X) = A(X)×B(X): one of several heads.
template <class A, class B>
struct Head : Product<A, B> {
  static constexpr std::string_view symbol = "H_i";
};
/// X ↦ F(M), where M is a memory
template <class F>
struct OfMemory;
template <class G, class F>
struct ThroughMemory;  ///< F, with the memory G(M) in the place of M
template <class Item, class F>
struct Tied;  ///< F, with a weight that it reads in several places
template <class Encoder, class Decoder>
struct EncoderDecoder;  ///< (x, X) ↦ Decoder(X), with the memory M = Encoder(x)
}  // namespace forms

/// Statements, the rules by which they follow from others, and what follows.
namespace rules {

/// The statement "T is Claim".
template <class T, class Claim>
struct Is {};

/// The rule that a conclusion follows from its premises, each a statement Is<T, Claim>.
template <Symbol name_, Symbol sentence_, class Conclusion, class... Premises>
struct Rule {
  static constexpr std::string_view name = name_, sentence = sentence_;
};

/// Some rules.
template <class... Rule>
struct List {
  using type = List;
};

/// The rules for operations of this form. An unknown form has none.
template <class Form>
struct RulesOf : List<> {};

// --- The rules ---------------------------------------------------------------------------------------------------------

/// For any operation. (Article, "Rowwise and autoregressive matrix operations".)
template <class T>
using RulesOfAll = List<                                                        //
    Rule<"rowwise_is_autoregressive", "rowwise operations are autoregressive",  //
         is::Autoregressive, Is<T, is::Rowwise>>>;

/// The last factor of a composition.
template <class A, class... F>
using AppliedFirst = std::tuple_element_t<sizeof...(F), std::tuple<A, F...>>;

template <class A, class... F>
struct RulesOf<forms::Composition<A, F...>>
    : List<Rule<"composition_is_rowwise", "compositions of rowwise operations are rowwise",  //
                is::Rowwise, Is<A, is::Rowwise>, Is<F, is::Rowwise>...>,
           Rule<"composition_is_autoregressive", "compositions of autoregressive operations are autoregressive",  //
                is::Autoregressive, Is<A, is::Autoregressive>, Is<F, is::Autoregressive>...>,
           Rule<"composition_is_constant", "G∘F is independent of X if F is",  //
                is::Constant, Is<AppliedFirst<A, F...>, is::Constant>>,
           Rule<"composition_is_causal_kernel", "A∘F is a causal kernel if A is and F is autoregressive",  //
                is::CausalKernel, Is<A, is::CausalKernel>, Is<F, is::Autoregressive>...>> {};

template <class F, std::size_t count>
struct RulesOf<forms::Stack<F, count>>
    : List<Rule<"composition_is_rowwise", "compositions of rowwise operations are rowwise",  //
                is::Rowwise, Is<F, is::Rowwise>>,
           Rule<"composition_is_autoregressive", "compositions of autoregressive operations are autoregressive",  //
                is::Autoregressive, Is<F, is::Autoregressive>>> {};

template <class F>
struct RulesOf<forms::Residual<F>> : List<Rule<"residual_is_rowwise", "X + F(X) is rowwise if F is",  //
                                               is::Rowwise, Is<F, is::Rowwise>>,
                                          Rule<"residual_is_autoregressive", "X + F(X) is autoregressive if F is",  //
                                               is::Autoregressive, Is<F, is::Autoregressive>>> {};

template <class... F>
struct RulesOf<forms::Concat<F...>>
    : List<Rule<"concat_is_rowwise", "Concat(F_1(X), …, F_k(X)) is rowwise if each F_i is",  //
                is::Rowwise, Is<F, is::Rowwise>...>,
           Rule<"concat_is_autoregressive", "Concat(F_1(X), …, F_k(X)) is autoregressive if each F_i is",  //
                is::Autoregressive, Is<F, is::Autoregressive>...>> {};

template <class F, std::size_t count>
struct RulesOf<forms::Heads<F, count>> : RulesOf<forms::Concat<F>> {};

template <class F>
struct RulesOf<forms::BlockOfColumns<F>>
    : List<Rule<"columns_are_rowwise", "a block of columns of F(X) is rowwise if F is",  //
                is::Rowwise, Is<F, is::Rowwise>>,
           Rule<"columns_are_autoregressive", "a block of columns of F(X) is autoregressive if F is",  //
                is::Autoregressive, Is<F, is::Autoregressive>>,
           Rule<"columns_are_constant", "a block of columns of F(X) is independent of X if F(X) is",  //
                is::Constant, Is<F, is::Constant>>> {};

/// (Article, "Causal Attention".) The other rules are about attention to a memory: row i of A(X) comes from row i of
/// Q(X) and the same K. (No rule calls A(X)×B rowwise then. For one memory it is rowwise. But a rowwise operation runs
/// once over all rows of a stack, and there each row looks at the memory of its own sequence.)
template <std::size_t d_head, class Mask, class Q, class K>
struct RulesOf<forms::SoftmaxKernel<d_head, Mask, Q, K>>
    : List<Rule<"softmax_kernel_is_causal",
                "softmax(◺(Q(X)×K(X)ᵀ/c)) is a causal kernel if Q and K are autoregressive",  //
                is::CausalKernel, Is<Mask, is::LowerTriangular>, Is<Q, is::Autoregressive>, Is<K, is::Autoregressive>>,
           Rule<"softmax_of_constant_keys_is_rowwise",
                "softmax(Q(X)×Kᵀ/c) is rowwise if Q is and K does not depend on X",  //
                is::Rowwise, Is<Mask, is::Full>, Is<Q, is::Rowwise>, Is<K, is::Constant>>,
           Rule<"softmax_of_constant_keys_is_autoregressive",
                "softmax(Q(X)×Kᵀ/c) is autoregressive if Q is and K does not depend on X",  //
                is::Autoregressive, Is<Mask, is::Full>, Is<Q, is::Autoregressive>, Is<K, is::Constant>>> {};

/// With a bias that is added to the scores. (Not with keys that do not depend on X: a query has no position among them.)
template <std::size_t d_head, class Mask, class Q, class K, class Bias>
struct RulesOf<forms::SoftmaxKernel<d_head, Mask, Q, K, Bias>>
    : List<Rule<"biased_softmax_kernel_is_causal",
                "softmax(◺(Q(X)×K(X)ᵀ/c + b)) is a causal kernel if Q and K are autoregressive and b_ij is a function "
                "of i and j",
                is::CausalKernel, Is<Mask, is::LowerTriangular>, Is<Q, is::Autoregressive>, Is<K, is::Autoregressive>,
                Is<Bias, is::Positional>>> {};

/// The article's Claim, and its companion for a B that does not depend on X.
template <class A, class B>
struct RulesOf<forms::Product<A, B>>
    : List<Rule<"product_is_autoregressive",
                "A(X)×B(X) is autoregressive if A is a causal kernel and B is autoregressive (Claim)",  //
                is::Autoregressive, Is<A, is::CausalKernel>, Is<B, is::Autoregressive>>,
           Rule<"product_with_constant_is_autoregressive",
                "A(X)×B is autoregressive if A is and B does not depend on X",  //
                is::Autoregressive, Is<A, is::Autoregressive>, Is<B, is::Constant>>> {};

template <class F>
struct RulesOf<forms::OfMemory<F>> : List<Rule<"memory_is_constant", "F(M) does not look at X", is::Constant>> {};

template <class G, class F>
struct RulesOf<forms::ThroughMemory<G, F>>
    : List<Rule<"through_memory_is_autoregressive",
                "F with the memory G(M) is autoregressive if F is for every memory",  //
                is::Autoregressive, Is<F, is::Autoregressive>>> {};

template <class Item, class F>
struct RulesOf<forms::Tied<Item, F>>
    : List<Rule<"tied_is_rowwise", "F with a weight that it reads in several places is rowwise if F is",  //
                is::Rowwise, Is<F, is::Rowwise>>,
           Rule<"tied_is_autoregressive",
                "F with a weight that it reads in several places is autoregressive if F is",  //
                is::Autoregressive, Is<F, is::Autoregressive>>> {};

template <class Encoder, class Decoder>
struct RulesOf<forms::EncoderDecoder<Encoder, Decoder>>
    : List<Rule<"encoder_decoder_is_autoregressive",
                "autoregressive in X if the decoder is for every memory M, whatever the encoder is",  //
                is::Autoregressive, Is<Decoder, is::Autoregressive>>> {};

// --- What follows ------------------------------------------------------------------------------------------------------

/// T declares what it is.
template <class T>
concept Leaf = requires {
  typename T::declared;
};

/// T is made of other operations.
template <class T>
concept Formula = requires {
  typename T::form;
};

/// The condition under which T is a leaf or a formula, and not both. A failure shows T.
template <class T>
struct IsLeafOrFormula : detail::Condition {
  static_assert(!(Leaf<T> && Formula<T>), "only a leaf declares what it is: of a formula the rules derive it");
};

/// The rules of T's form; none if T is not a formula.
template <class T>
struct Rules : List<> {};
template <Formula T>
struct Rules<T> : RulesOf<typename T::form> {};

/// One of the rules concludes the claim, and its premises follow.
template <class Claim, class Rules>
inline constexpr bool one_applies = false;

/// The statement "T is Claim" follows: T declares it, or a rule concludes it from premises that follow.
template <class T, class Claim>
inline constexpr bool follows = one_applies<Claim, typename Rules<T>::type> || one_applies<Claim, RulesOfAll<T>>;
template <Leaf T, class Claim>
inline constexpr bool follows<T, Claim> = IsLeafOrFormula<T>::value && (std::is_same_v<typename T::declared, Claim> ||
                                                                        one_applies<Claim, RulesOfAll<T>>);

/// A rule applies if it concludes the claim and its premises follow.
template <class Claim, class Rule>
inline constexpr bool applies = false;
template <class Claim, Symbol name, Symbol sentence, class... T, class... Premise>
inline constexpr bool applies<Claim, Rule<name, sentence, Claim, Is<T, Premise>...>> = (follows<T, Premise> && ...);

template <class Claim, class... Rule>
inline constexpr bool one_applies<Claim, List<Rule...>> = (applies<Claim, Rule> || ...);

/// An operation whose rows do not change when more are appended: autoregressive, a causal kernel, or independent of X.
template <class T>
concept Extensible = follows<T, is::Autoregressive> || follows<T, is::CausalKernel> || follows<T, is::Constant>;

}  // namespace rules

/// T is rowwise: T(X_i) = T(X)_i.
template <class T>
inline constexpr bool rowwise = rules::follows<T, is::Rowwise>;
/// T is autoregressive: T(X|i) = T(X)|i.
template <class T>
inline constexpr bool autoregressive = rules::follows<T, is::Autoregressive>;
/// A is a causal kernel: A(X) is lower triangular, and A(X|i) is its leading i×i block.
template <class A>
inline constexpr bool causal_kernel = rules::follows<A, is::CausalKernel>;
/// T(X) does not depend on X.
template <class T>
inline constexpr bool constant = rules::follows<T, is::Constant>;

}  // namespace tlm
