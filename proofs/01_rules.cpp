// SPDX-License-Identifier: MIT
// Claim 1. Rowwise operations are autoregressive. Compositions of rowwise operations are rowwise, compositions of
// autoregressive operations are autoregressive, and so are X ↦ X + F(X) and Concat(F_1(X), …, F_h(X)). If A is a causal
// kernel and B is autoregressive, X ↦ A(X)×B(X) is autoregressive. (Article, "Rowwise and autoregressive matrix operations".)
//
// Derivation. Let T be rowwise and X have n rows. Row k of T(X|i) is T((X|i)_k) = T(X_k), which is row k of T(X), for k
// ≤ i. For autoregressive F and G, G(F(X|i)) = G(F(X)|i) = G(F(X))|i. Sums and rows side by side are made row by row.
// For products see claim 3.
//
// Each rule of tlm/algebra/rules.hpp is checked as a rule, exactly over the prime field, on generic operations
// (generic.hpp): nothing is known of these except which rows a row is a function of. Then each premise is given up in
// turn. The compiler must not draw the conclusion, and must name the rule that lacks a premise. The conclusion must
// fail when it is run. A rule about several parts is checked for two, which may be composed again.

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tlm/derivation/derivation.hpp>

#include "controls.hpp"
#include "generic.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

/// Entry (i, j) of a kernel's matrix. An entry that is not visible is 0.
PrimeField at(const auto& A, std::size_t i, std::size_t j) {
  return j < A(0, 0).visible(i) ? A(0, 0)(i, j) : PrimeField(0);
}

/// Whether A(X|i) differs from A(X)|i. For a causal kernel: whether it differs from its leading block, or A(X) is not
/// lower triangular. For a rowwise operation: whether A(X_i) differs from A(X)_i.
template <template <class> class Kernel, class Conclusion>
std::optional<Failure> kernel_fails(const std::string& name, std::uint64_t seed) {
  using Domain = typename Kernel<PrimeField>::domain;
  constexpr bool causal = std::is_same_v<Conclusion, is::CausalKernel>;
  constexpr Claim claim = std::is_same_v<Conclusion, is::Rowwise> ? Claim::rowwise : Claim::autoregressive;
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto A = draw_layer<Kernel<PrimeField>>(generator);
    for (std::size_t n = 1; n <= greatest_n; ++n) {
      Input<PrimeField> X{{}, draw_rows<PrimeField>(shape_of<Domain>(), Sequences{n}, generator)};
      if constexpr (Pair<Domain>)
        X.source = draw_rows<PrimeField>(shape_of<decltype(Domain::x)>(), Sequences{n + 1}, generator);
      const auto A_X = A(as<Domain>(X));
      for (const Cut& cut : cuts(claim, Sequences{n})) {
        const auto A_Xi = A(as<Domain>(cut.of(X)));
        Failure failure =
            failure_of(causal ? "A(X|i) is the leading block of A(X)" : "A of the part is that part of A(X)",
                       "A of the part gives", "A(X) gives");
        failure.layer = name;
        failure.arithmetic = arithmetic<PrimeField>();
        failure.seed = seed;
        failure.n = n;
        failure.i = cut.number;
        if (!causal && A_Xi.keys().length(0) != A_X.keys().length(0)) {
          failure.entry = "the numbers of columns";
          failure.left.value = std::to_string(A_Xi.keys().length(0));
          failure.right.value = std::to_string(A_X.keys().length(0));
          return failure;
        }
        for (std::size_t r = cut.first; r < cut.first + cut.count; ++r)
          for (std::size_t j = 0; j < A_X.keys().length(0); ++j) {
            const PrimeField left = causal && j > r ? PrimeField(0) : at(A_Xi, r - cut.first, j);
            if (same(left, at(A_X, r, j))) continue;
            failure.entry = entry(r + 1, j + 1);
            failure.left.value = shown(left);
            failure.right.value = shown(at(A_X, r, j));
            return failure;
          }
      }
    }
    return std::nullopt;
  });
}

/// Whether what a rule concludes fails for a formula, with two keys of the uninterpreted functions.
template <class M, class Conclusion>
std::optional<Failure> conclusion_fails(const std::string& name) {
  using Run = typename M::template Runs<PrimeField>;
  std::optional<Failure> found;
  for (const std::uint64_t key : {11u, 12u}) {
    PrimeField::key = key;
    if (found) break;
    if constexpr (std::is_same_v<Conclusion, is::Constant>)
      found = compare_parts(OperationOf<Run>{name}, Claim::constant, key);
    else if constexpr (Kernel<typename M::template Layer<PrimeField>>)
      found = kernel_fails<M::template Runs, Conclusion>(name, key);
    else
      found = compare_parts(OperationOf<Run>{name},
                            std::is_same_v<Conclusion, is::Rowwise> ? Claim::rowwise : Claim::autoregressive, key);
  }
  return found;
}

/// The rule by which "T is Claim" follows, or the one that lacks a premise.
template <class T, class Claim>
std::string_view rule_of() {
  std::string_view name;
  by_which<T, Claim>([&](auto rule) { name = rule.name; });
  return name;
}

/// The claims that replace a premise when it is given up: the premise does not follow from them.
template <class Conclusion, class Premise>
struct Instead {
  using type = rules::List<is::Unrestricted>;
};
template <class Conclusion>
struct Instead<Conclusion, is::Unrestricted> {
  using type = rules::List<>;  // That is not a premise.
};
template <>
struct Instead<is::Rowwise, is::Rowwise> {
  using type = rules::List<is::Autoregressive>;
};
template <class Conclusion>
struct Instead<Conclusion, is::CausalKernel> {
  using type = rules::List<NotTriangular, NotLeading>;
};
template <class Conclusion>
struct Instead<Conclusion, OverMemory<is::Autoregressive>> {
  using type = rules::List<OverMemory<is::Unrestricted>>;
};
template <class Conclusion>
struct Instead<Conclusion, is::LowerTriangular> {
  using type = rules::List<is::Full>;
};
template <class Conclusion>
struct Instead<Conclusion, is::Full> {
  using type = rules::List<>;  // A mask with the keys of a memory does not compile: tests/compile_fail.
};
template <class Conclusion>
struct Instead<Conclusion, is::Positional> {
  using type = rules::List<Counts>;
};
template <class Conclusion>
struct Instead<Conclusion, is::Constant> {
  using type = rules::List<LooksAtX>;
};
template <>
struct Instead<is::Constant, is::Constant> {
  using type = rules::List<is::Rowwise>;
};

/// The names of the rules that were checked.
std::set<std::string, std::less<>> checked_rules;

/// The formula in which premise number `place` is replaced by another claim.
template <template <class, class...> class Form, std::size_t place, class Other, class Places, class... Premises>
struct Without;
template <template <class, class...> class Form, std::size_t place, class Other, std::size_t... k, class... Premises>
struct Without<Form, place, Other, std::index_sequence<k...>, Premises...> {
  using type = Made<Form, std::conditional_t<k == place, Other, Premises>...>;
};

/// The conclusion fails for M. The compiler does not draw it, and names the rule that lacks a premise.
template <class M, class Conclusion>
void conclusion_must_fail(const std::string& rule) {
  using T = typename M::template Layer<PrimeField>;
  static_assert(!rules::follows<T, Conclusion>);
  if constexpr (!rules::Leaf<T>) CHECK(rule_of<T, Conclusion>() == rule);
  CHECK(fails(conclusion_fails<M, Conclusion>(rule)));
}

/// The rule draws its conclusion from these premises, and does not if any of them is replaced.
template <template <class, class...> class Form, class Conclusion, class... Premises>
void check_rule(const std::string& rule) {
  checked_rules.insert(rule);
  using M = Made<Form, Premises...>;
  using T = typename M::template Layer<PrimeField>;
  static_assert(rules::follows<T, Conclusion>);
  CHECK(rule_of<T, Conclusion>() == rule);
  must_hold(conclusion_fails<M, Conclusion>(rule));
  const auto without = [&]<std::size_t place, class... Other>(std::integral_constant<std::size_t, place>,
                                                              rules::List<Other...>) {
    INFO("premise ", place + 1, " of ", rule, " is given up");
    (conclusion_must_fail<typename Without<Form, place, Other, std::index_sequence_for<Premises...>, Premises...>::type,
                          Conclusion>(rule),
     ...);
  };
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    (without(std::integral_constant<std::size_t, k>{}, typename Instead<Conclusion, Premises>::type{}), ...);
  }
  (std::index_sequence_for<Premises...>{});
}

}  // namespace

TEST_CASE(
    "rowwise operations are autoregressive; unrestricted ones need not be: generic F, over the prime field of "
    "2⁶¹ − 1 elements, n ≤ 6" *
    doctest::description("rowwise_is_autoregressive")) {
  check_rule<Itself, is::Autoregressive, is::Rowwise>("rowwise_is_autoregressive");
}

TEST_CASE(
    "G∘F is rowwise, or autoregressive, if both are, and need not be if one is less: generic F and G, over the "
    "prime field, n ≤ 6" *
    doctest::description("composition_is_rowwise, composition_is_autoregressive")) {
  check_rule<CompositionOf, is::Rowwise, is::Rowwise, is::Rowwise>("composition_is_rowwise");
  check_rule<CompositionOf, is::Autoregressive, is::Autoregressive, is::Autoregressive>(
      "composition_is_autoregressive");
}

TEST_CASE(
    "G∘F is independent of X if F is, whatever G is, and need not be if F is not: generic G, and F of n+1 rows, over "
    "the prime field, n ≤ 6" *
    doctest::description("composition_is_constant")) {
  check_rule<CompositionOf, is::Constant, is::Unrestricted, is::Constant>("composition_is_constant");
}

TEST_CASE(
    "A∘F is a causal kernel if A is and F is autoregressive, and need not be one if one is less: generic A and F, over "
    "the prime field, n ≤ 6" *
    doctest::description("composition_is_causal_kernel")) {
  check_rule<CompositionOf, is::CausalKernel, is::CausalKernel, is::Autoregressive>("composition_is_causal_kernel");
}

TEST_CASE(
    "a stack F_2∘F_1 of layers of one type is rowwise, or autoregressive, if they are, and need not be if they are "
    "less: generic F_1 and F_2, over the prime field, n ≤ 6" *
    doctest::description("composition_is_rowwise, composition_is_autoregressive")) {
  check_rule<StackOf, is::Rowwise, is::Rowwise>("composition_is_rowwise");
  check_rule<StackOf, is::Autoregressive, is::Autoregressive>("composition_is_autoregressive");
}

TEST_CASE(
    "X + F(X) is rowwise, or autoregressive, if F is, and not if F is less: generic F, over the prime field, n ≤ 6" *
    doctest::description("residual_is_rowwise, residual_is_autoregressive")) {
  check_rule<ResOf, is::Rowwise, is::Rowwise>("residual_is_rowwise");
  check_rule<ResOf, is::Autoregressive, is::Autoregressive>("residual_is_autoregressive");
}

TEST_CASE(
    "Concat(F(X), G(X)) is rowwise, or autoregressive, if both are, and not if one is less: generic F and G, over the "
    "prime field, n ≤ 6" *
    doctest::description("concat_is_rowwise, concat_is_autoregressive")) {
  check_rule<ConcatOf, is::Rowwise, is::Rowwise, is::Rowwise>("concat_is_rowwise");
  check_rule<ConcatOf, is::Autoregressive, is::Autoregressive, is::Autoregressive>("concat_is_autoregressive");
}

TEST_CASE(
    "a column of F(X) is rowwise, autoregressive or independent of X if F is, and need not be if F is less: generic F, "
    "over the prime field, n ≤ 6" *
    doctest::description("columns_are_rowwise, columns_are_autoregressive, columns_are_constant")) {
  check_rule<ColumnOf, is::Rowwise, is::Rowwise>("columns_are_rowwise");
  check_rule<ColumnOf, is::Autoregressive, is::Autoregressive>("columns_are_autoregressive");
  check_rule<ColumnOf, is::Constant, is::Constant>("columns_are_constant");
}

TEST_CASE(
    "softmax(◺(Q(X)×K(X)ᵀ/c)) is a causal kernel (lower triangular, and for X|i the leading block of that for X) if Q "
    "and K are autoregressive; it is not one without ◺, and need not be one if Q or K is less: generic Q and K, over "
    "the prime field, n ≤ 6" *
    doctest::description("softmax_kernel_is_causal")) {
  check_rule<KernelOf, is::CausalKernel, is::LowerTriangular, is::Autoregressive, is::Autoregressive>(
      "softmax_kernel_is_causal");
}

TEST_CASE(
    "softmax(◺(Q(X)×K(X)ᵀ/c + b)) is a causal kernel, too, if b_ij is a function of i and j, and need not be one if b "
    "changes from call to call: generic Q, K and b, over the prime field, n ≤ 6" *
    doctest::description("biased_softmax_kernel_is_causal")) {
  check_rule<BiasedKernelOf, is::CausalKernel, is::LowerTriangular, is::Autoregressive, is::Autoregressive,
             is::Positional>("biased_softmax_kernel_is_causal");
}

TEST_CASE(
    "softmax(Q(X)×Kᵀ/c) is autoregressive if Q is and K is independent of X, and need not be if one is less: "
    "generic Q and K of n+1 rows, over the prime field, n ≤ 6" *
    doctest::description("softmax_of_constant_keys_is_autoregressive")) {
  check_rule<KernelOf, is::Autoregressive, is::Full, is::Autoregressive, is::Constant>(
      "softmax_of_constant_keys_is_autoregressive");
}

TEST_CASE(
    "softmax(Q(X)×Kᵀ/c) is rowwise if Q is and K is independent of X, and need not be if Q or K is less: generic Q and "
    "K of n+1 rows, over the prime field, n ≤ 6" *
    doctest::description("softmax_of_constant_keys_is_rowwise")) {
  check_rule<KernelOf, is::Rowwise, is::Full, is::Rowwise, is::Constant>("softmax_of_constant_keys_is_rowwise");
}

TEST_CASE(
    "A(X)×B(X) is autoregressive if A is a causal kernel and B is autoregressive, and need not be if A is not "
    "lower triangular, or A(X|i) not the leading block of A(X), or B is less: generic A and B, over the prime "
    "field, n ≤ 6" *
    doctest::description("product_is_autoregressive")) {
  check_rule<ProductOf, is::Autoregressive, is::CausalKernel, is::Autoregressive>("product_is_autoregressive");
}

TEST_CASE(
    "A(X)×B is autoregressive if A is and B is independent of X, and need not be if one is less: generic A, and B "
    "of n+1 rows, over the prime field, n ≤ 6" *
    doctest::description("product_with_constant_is_autoregressive")) {
  check_rule<ProductOf, is::Autoregressive, OverMemory<is::Autoregressive>, is::Constant>(
      "product_with_constant_is_autoregressive");
}

TEST_CASE("F(M), where M is the memory, is independent of X: generic F, over the prime field, n ≤ 6" *
          doctest::description("memory_is_constant")) {
  check_rule<MemoryOf, is::Constant, is::Unrestricted>("memory_is_constant");
}

TEST_CASE(
    "X ↦ F(X; G(M)) is autoregressive if F is for every memory, whatever G is, and need not be if F is less: "
    "generic F and G, over the prime field, n ≤ 6" *
    doctest::description("through_memory_is_autoregressive")) {
  check_rule<ThroughMemoryOf, is::Autoregressive, is::Unrestricted, is::Autoregressive>(
      "through_memory_is_autoregressive");
}

TEST_CASE(
    "F with a tied weight is rowwise, or autoregressive, if F is, and need not be if F is less: generic F, over the "
    "prime field, n ≤ 6" *
    doctest::description("tied_is_rowwise, tied_is_autoregressive")) {
  check_rule<TiedOf, is::Rowwise, is::Rowwise>("tied_is_rowwise");
  check_rule<TiedOf, is::Autoregressive, is::Autoregressive>("tied_is_autoregressive");
}

TEST_CASE(
    "(x, X) ↦ D(X; E(x)) is autoregressive in X if D is for every memory, whatever E is, and need not be if D is "
    "less: generic E and D, over the prime field, n ≤ 6" *
    doctest::description("encoder_decoder_is_autoregressive")) {
  check_rule<EncoderDecoderOf, is::Autoregressive, is::Unrestricted, is::Autoregressive>(
      "encoder_decoder_is_autoregressive");
}

TEST_CASE("every rule by which a layer of the list (proofs/all_layers.hpp) is derived is checked in this file") {
  const auto cite_all = [](const auto& self, const Step& step) -> void {
    if (step.follows && !step.rule.empty()) CHECK_MESSAGE(checked_rules.contains(step.rule), step.rule);
    for (const Step& part : step.parts) self(self, part);
  };
  const auto cite = [&]<class T>() { cite_all(cite_all, derivation<T>()); };
  for_each_layer([&]<template <class> class Layer>(Listed<Layer>) { cite.template operator()<Layer<double>>(); });
  cite.template operator()<formulated::Transformer<small_formulated, double>>();
  cite.template operator()<numpy::Transformer<small_numpy, double>>();
  cite.template operator()<wolfram::Transformer<small_wolfram, double>>();
}

static_assert(OneHead<double>::codomain::cols == d_model / n_heads);
TEST_CASE(
    "H(X) = Concat(H_1(X), …, H_h(X)): head i uses the i-th blocks of columns of W_Q, W_K and W_V, and is "
    "n×d_head: exactly over the prime field, n = 6, h = 2") {
  redrawing(1, [](Generator& generator) {
    const auto all = draw_layer<H<PrimeField>>(generator);
    const auto X = draw_matrix<H<PrimeField>::domain>(Sequences{greatest_n}, generator);
    const auto Y = all(X);
    for (std::size_t h = 0; h < n_heads; ++h) {
      constexpr std::size_t d_head = d_model / n_heads;
      OneHead<PrimeField> one;
      for (std::size_t i = 0; i < d_model; ++i)
        for (std::size_t k = 0; k < d_head; ++k) {
          weight<"W_Q">(one)(i, k) = weight<"W_Q">(all)(i, h * d_head + k);
          weight<"W_K">(one)(i, k) = weight<"W_K">(all)(i, h * d_head + k);
          weight<"W_V">(one)(i, k) = weight<"W_V">(all)(i, h * d_head + k);
        }
      OneHead<PrimeField>::codomain Y_h{X.sequences()};
      for (std::size_t i = 0; i < X.rows(); ++i)
        for (std::size_t k = 0; k < d_head; ++k) Y_h(i, k) = Y(i, h * d_head + k);
      must_be_equal("H(X) = Concat(H_1(X), …, H_h(X))", "H_" + std::to_string(h + 1), Y_h, one(X), 1);
    }
    return true;
  });
}
