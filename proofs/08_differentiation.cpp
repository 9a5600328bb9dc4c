// SPDX-License-Identifier: MIT
// Claim 8. Each pullback is the transpose of the derivative: ⟨J v, w⟩ = ⟨v, Jᵀ w⟩, where v ranges over inputs and
// weights together, J v is the derivative in the direction v, and Jᵀ w is the pullback of w. The pullback is linear in
// w. That of G∘F is that of F after that of G. For a causal layer it is anti-causal: X̄_i depends on no Ȳ_j with j < i.
// ReLU′(0) = 0 is the documented choice.
//
// J comes from dual numbers (tlm/checking/gradients.hpp): exactly over the prime field, by the formal rules of differentiation,
// and in double.
//
// Here the transpose and linearity are checked for formulas of generic parts, over the prime field. 04_leaves checks all of
// it for each layer of the list.
//
// A gradient check cannot see a wrong mask, because its derivative is right. So these checks do not replace claims 2 to
// 5.

#include <doctest/doctest.h>

#include "controls.hpp"
#include "generic.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

/// ReLU, where `Spoil` has changed every number that its pullback returns.
template <class Real, class Spoil>
struct SpoiltReLU : ReLu<Real> {
  auto value_and_pullback(typename ReLu<Real>::domain X) const {
    auto [Y, right] = ReLu<Real>::value_and_pullback(std::move(X));
    return with_pullback(std::move(Y),
                         [right = std::move(right)](typename ReLu<Real>::codomain Y_bar, SpoiltReLU& gradient) {
                           auto X_bar = right(std::move(Y_bar), gradient);
                           for (std::size_t e = 0; e < X_bar.rows() * d_model; ++e)
                             X_bar.data()[e] = Spoil{}(X_bar.data()[e]);
                           return X_bar;
                         });
  }
};
struct FlippedSign {
  auto operator()(const auto& dx) const { return -dx; }
};
struct Plus1 {
  template <class Real>
  Real operator()(const Real& dx) const {
    return dx + Real(1);
  }
};
template <class Real>
using FlippedReLU = SpoiltReLU<Real, FlippedSign>;
template <class Real>
using ShiftedPullback = SpoiltReLU<Real, Plus1>;

/// A composite that contains the flipped one.
template <class Real>
using FlippedInside = Composition<N<Real>, Res<Composition<FlippedReLU<Real>, PlusK<Real>>>>;

/// G∘F whose pullback goes through F first.
template <class Real>
struct ForwardOrder : Composition<N<Real>, LN<Real>> {
  auto value_and_pullback(typename N<Real>::domain X) const {
    auto [F_X, F_pullback] = this->f.value_and_pullback(std::move(X));
    auto [Y, G_pullback] = this->g.value_and_pullback(std::move(F_X));
    return with_pullback(std::move(Y), [F_pullback = std::move(F_pullback), G_pullback = std::move(G_pullback)](
                                           typename N<Real>::codomain Y_bar, ForwardOrder& gradient) {
      return G_pullback(F_pullback(std::move(Y_bar), gradient.f), gradient.g);
    });
  }
};

}  // namespace

TEST_CASE(
    "the pullback of a formula is the transpose of its derivative if those of its parts are: for compositions, stacks, "
    "sums, Concat, products, attention of one head to X and to a memory, and tied weights, of generic parts: exactly, "
    "over dual "
    "numbers of the prime field (no theorem for a memory)" *
    doctest::description("composition_transposes, residual_transposes, concat_transposes, "
                         "product_transposes, softmax_kernel_transposes, tied_transposes")) {
  for_each(generic_formulas, []<template <class> class Layer>(Listed<Layer> listed) {
    for (const std::uint64_t key : {21u, 22u}) {
      PrimeField::key = key;
      must_hold(value_fails(OperationOf<Layer<PrimeField>, both_faces>{listed.name}, key));
      must_hold(transpose_fails<Layer, PrimeField>(listed.name, key));
    }
    for (const auto requirement : {Requirement::linear, Requirement::adds, Requirement::again})
      must_hold(pullback_fails(OperationOf<Layer<PrimeField>, both_faces>{listed.name}, requirement, 2));
  });
}

TEST_CASE("the pullback of G∘F is that of F after that of G: N∘LayerNorm, exactly over the prime field" *
          doctest::description("composition_transposes")) {
  redrawing(3, [](Generator& generator) {
    using GF = Composition<N<PrimeField>, LN<PrimeField>>;
    const auto layer = draw_layer<GF>(generator);
    const auto X = draw_matrix<GF::domain>(Sequences{3}, generator),
               w = draw_matrix<GF::domain>(Sequences{3}, generator);
    auto [F_X, F_pullback] = layer.f.value_and_pullback(X);
    auto [Y, G_pullback] = layer.g.value_and_pullback(F_X);
    GF by_hand, gradient;
    const auto X_bar = F_pullback(G_pullback(w, by_hand.g), by_hand.f);
    must_be_equal("(G∘F)′(X)ᵀ = F′(X)ᵀ G′(F(X))ᵀ", "N∘LayerNorm", layer.value_and_pullback(X).pullback(w, gradient),
                  X_bar, 3);
    return true;
  });
}

TEST_CASE("ReLU′(0) is 0, by choice; elsewhere ReLU′ is 0 or 1, and nothing is chosen") {
  CHECK(relu_derivative(0.0) == 0);
  CHECK(relu_derivative(-0.0) == 0);
  CHECK(relu_derivative(1e-300) == 1);
  CHECK(relu_derivative(-1e-300) == 0);
}

TEST_CASE("control: a flipped sign is seen, with its place, in the layer and in composites that contain it") {
  const auto alone = transpose_fails<FlippedReLU, PrimeField>("flipped ReLU", 21);
  REQUIRE(alone);
  CHECK(alone->entry == "X, row 1, column 1");
  CHECK(fails(transpose_fails<FlippedReLU, double>("flipped ReLU", 1)));
  const auto inside = transpose_fails<FlippedInside, PrimeField>("N∘Res(flipped ReLU∘(+K))", 21);
  REQUIRE(inside);
  CHECK(inside->entry == "K, row 1, column 1");  // the weights of N, which is applied after it, have the right gradient
  CHECK(fails(transpose_fails<FlippedInside, double>("N∘Res(flipped ReLU∘(+K))", 1)));
}

TEST_CASE("control: a composition whose pullback runs forwards is seen") {
  CHECK(fails(transpose_fails<ForwardOrder, PrimeField>("forwards", 21)));
}

TEST_CASE("control: attention that sees one row of the future is not anti-causal, though its pullback is a transpose") {
  for (const auto& failure :
       {anti_causality_fails(OperationOf<OffByOneMask<Dependencies>, pullback_face>{"a mask j ≤ min(i+1, n)"}),
        anti_causality_fails(OperationOf<MH<Dependencies>, pullback_face>{"MultiHead, unmasked"})}) {
    REQUIRE(fails(failure));
    CHECK(failure->n == 2);
    CHECK(failure->i == 2);
  }
  must_hold(transpose_fails<OffByOneMask, PrimeField>("a mask j ≤ min(i+1, n)", 21));
}

TEST_CASE("control: a pullback with a constant added is not linear") {
  CHECK(fails(pullback_fails(OperationOf<ShiftedPullback<PrimeField>, pullback_face>{"a pullback with 1 added"},
                             Requirement::linear, 2)));
}
