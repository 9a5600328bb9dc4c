// SPDX-License-Identifier: MIT
// Claim 3. If A is a causal kernel and B is autoregressive, then X ↦ A(X)×B(X) is autoregressive.
//
// (Article, Claim. It says "A, B autoregressive and A always lower triangular". That is ill-typed: A(X) is n×n, so
// A(X|i) has i columns and A(X)|i has n. The hypothesis here reads it as "A(X)|i begins with A(X|i)". Lower triangular
// alone is not enough: the control takes A(X) = I/n.)
//
// Proof. Let k ≤ i. Row k of A(X|i)×B(X|i) is Σ_{j ≤ i} A(X|i)_kj B(X|i)_j. Since A(X|i) is the leading block of A(X)
// and B is autoregressive, this is Σ_{j ≤ i} A(X)_kj B(X)_j. Since A(X) is lower triangular, the terms with j > k are
// 0, there and in row k of A(X)×B(X) = Σ_{j ≤ n} A(X)_kj B(X)_j. So the two are equal.

#include <doctest/doctest.h>

#include "controls.hpp"
#include "generic.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

static_assert(autoregressive<HeadsOf<Causal, 1, 2, double>>);
static_assert(!autoregressive<HeadsOf<Unmasked, 1, 2, double>>);    // A is not a causal kernel
static_assert(!autoregressive<HeadsOf<OneTooMany, 1, 2, double>>);  // nor here
static_assert(!autoregressive<ValuesOfColumns<double>>);            // B is not autoregressive
static_assert(!autoregressive<QueriesOfColumns<double>>);           // Q is not
static_assert(!autoregressive<KeysOfColumns<double>>);              // K is not

template <class Real>
using BlocksOf1 = HeadsOf<Causal, 1, 1, Real>;
template <class Real>
using BlocksOf2 = HeadsOf<Causal, 1, 2, Real>;
template <class Real>
using BlocksOf3 = HeadsOf<Causal, 2, 3, Real>;
template <class Real>
using BlocksOf32 = HeadsOf<Causal, 2, 32, Real>;

template <class Real>
using GenericParts = Made<AttentionOf, is::Autoregressive, is::Autoregressive, is::Autoregressive>::Runs<Real>;

TEST_CASE(
    "X ↦ A(X)×B(X) is autoregressive if A is a causal kernel and B is autoregressive: softmax(◺(Q×Kᵀ/c))×V, Q, K and V "
    "linear, in blocks of 1, 2, 3 and 32 rows, over the four arithmetics (double within 1e-12, bits of float and "
    "double, the prime field, sets of positions), n ≤ 6" *
    doctest::description("softmax_kernel_is_causal, product_is_autoregressive")) {
  must_hold(verdict_on<BlocksOf1>("A×B, blocks of 1", Claim::autoregressive));
  must_hold(verdict_on<BlocksOf2>("A×B, blocks of 2", Claim::autoregressive));
  must_hold(verdict_on<BlocksOf3>("A×B, blocks of 3", Claim::autoregressive));
  must_hold(verdict_on<BlocksOf32>("A×B, blocks of 32", Claim::autoregressive));
}

TEST_CASE(
    "softmax(◺(Q×Kᵀ/c + b))×V is autoregressive, too, if Q, K and V are autoregressive and not rowwise: generic Q, K "
    "and V, exactly over the prime field, n ≤ 6" *
    doctest::description("biased_softmax_kernel_is_causal, product_is_autoregressive")) {
  must_hold(compare_parts(OperationOf<GenericParts<PrimeField>>{"softmax(◺(Q(X)×K(X)ᵀ/c + b))×V(X)"},
                          Claim::autoregressive, 11));
}

TEST_CASE(
    "for random weights every entry of row i of H(X) depends on each of the rows 1, …, i: if one of them is drawn "
    "anew, every entry changes (over the prime field, n ≤ 6)") {
  must_hold(a_row_does_not_count(*operation<H<PrimeField>, all_faces>("H"), Claim::autoregressive));
}

TEST_CASE(
    "control: with a Q, a K or a B that is not autoregressive, or an A without ◺, the claim fails over each of the "
    "four arithmetics") {
  for (const Verdict& verdict : {verdict_on<QueriesOfColumns>("Q not autoregressive", Claim::autoregressive),
                                 verdict_on<KeysOfColumns>("K not autoregressive", Claim::autoregressive),
                                 verdict_on<ValuesOfColumns>("B not autoregressive", Claim::autoregressive),
                                 verdict_on<WithoutMask>("A without ◺", Claim::autoregressive)})
    for (const auto& failure : {verdict.reals, verdict.bits, verdict.field, verdict.sets}) CHECK(fails(failure));
}

TEST_CASE("control: a row that does not matter is seen: row 2 of PE(X) does not depend on row 1") {
  const auto failure = a_row_does_not_count(*operation<PE<PrimeField>, all_faces>("PE"), Claim::autoregressive);
  REQUIRE(fails(failure));
  CHECK(failure->n == 2);
  CHECK(failure->i == 2);
  CHECK(fails(a_row_does_not_count(OperationOf<MemoryTimesK<PrimeField>>{"M×K"}, Claim::rowwise)));  // nor does any row
}

TEST_CASE(
    "control: lower triangular alone is not enough: X ↦ (I/n)×X fails over double and the prime field, which vary "
    "n, and not in bits and sets, which do not") {
  const Verdict verdict = verdict_on<AveragedIdentity>("I/n × X", Claim::autoregressive);
  CHECK(fails(verdict.reals));
  CHECK(!verdict.bits);
  REQUIRE(fails(verdict.field));
  CHECK(!verdict.sets);
  CHECK(verdict.field->n == 2);
  CHECK(verdict.field->i == 1);
}
