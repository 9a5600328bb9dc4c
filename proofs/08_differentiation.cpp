// Claim 8. Each pullback is the transpose of the derivative: ⟨J v, w⟩ = ⟨v, Jᵀ w⟩, where v ranges over inputs and weights
// together, J v is the derivative in the direction v, and Jᵀ w is what the pullback makes of w. It is linear in w; the
// pullback of G∘F is that of F after that of G; and for a causal layer it is anti-causal: dX_i depends on no dY_j with
// j < i. ReLU′(0) = 0 is the documented choice.
//
// J comes from dual numbers (proofs/transpose.hpp): exactly over the prime field, by the formal rules of differentiation,
// and in double.
//
// A gradient check cannot see a wrong mask (its derivative is right); these checks do not replace claims 2 to 5.

#include <doctest/doctest.h>

#include "checks.hpp"
#include "controls.hpp"
#include "transpose.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

/// The pullback is linear: that of a·w₁ + w₂ is a times that of w₁ plus that of w₂.
template <template <class> class Layer>
std::optional<Failure> linearity_fails(std::string_view name, std::uint64_t seed) {
  using T = Layer<PrimeField>;
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layer = draw_layer<T>(generator);
    const auto sequences = Sequences::of_lengths({2, 3});
    const auto X = draw_input<typename T::domain>(sequences, generator);
    const auto w_1 = draw_matrix<typename T::codomain>(sequences, generator);
    const auto w_2 = draw_matrix<typename T::codomain>(sequences, generator);
    const PrimeField a = PrimeField::random(generator);
    const auto combined = [a](const auto& M_1, const auto& M_2) {
      auto M = M_2;
      for (std::size_t e = 0; e < M.rows() * M.cols; ++e) M.data()[e] += a * M_1.data()[e];
      return M;
    };

    auto [Y, pullback] = layer.value_and_pullback(X);
    T gradient_1, gradient_2, gradient;
    const auto v_1 = pullback(w_1, gradient_1);
    const auto v_2 = pullback(w_2, gradient_2);
    const auto v = pullback(combined(w_1, w_2), gradient);
    Failure failure{"pullbacks are linear", std::string(name), arithmetic<PrimeField>(), seed,
                    sequences.rows(),       sequences.rows()};
    std::optional<Failure> found;
    if constexpr (!reads_tokens<T>) found = first_difference(failure, v, combined(v_1, v_2));
    for_each_weight(
        [&](const Name& weight, const auto& g, const auto& g_1, const auto& g_2) {
          failure.claim = "pullbacks are linear, gradient of " + weight.path();
          if (!found) found = first_difference(failure, g, combined(g_1, g_2));
        },
        gradient, gradient_1, gradient_2);
    return found;
  });
}

/// dX_i depends on no dY_j with j < i, for every input and all weights of that shape.
template <template <class> class Layer>
std::optional<Failure> anti_causality_fails(std::string_view name) {
  using T = Layer<Positions>;
  Generator generator{0};
  const auto layer = draw_layer<T>(generator);
  for (std::size_t n = 1; n <= greatest_n; ++n) {
    typename T::codomain dY{Sequences{n}};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < T::codomain::cols; ++j) dY(i, j) = Positions::codomain_position(i);
    T gradient;
    const auto dX = layer.value_and_pullback(tagged<typename T::domain>(Sequences{n})).pullback(dY, gradient);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < T::domain::cols; ++j)
        if (const std::uint64_t earlier = (std::uint64_t{1} << i) - 1; (dX(i, j).tags() >> 32 & earlier) != 0)
          return Failure{"dX_i depends on no dY_j with j < i",
                         std::string(name),
                         arithmetic<Positions>(),
                         0,
                         n,
                         i + 1,
                         entry(i + 1, j + 1),
                         shown(dX(i, j)),
                         "of dY the rows from " + std::to_string(i + 1) + " on"};
  }
  return std::nullopt;
}

/// ReLU, where `Spoil` has changed every number that its pullback returns.
template <class Real, class Spoil>
struct SpoiltReLU : ReLu<Real> {
  auto value_and_pullback(typename ReLu<Real>::domain X) const {
    auto [Y, right] = ReLu<Real>::value_and_pullback(std::move(X));
    return with_pullback(std::move(Y),
                         [right = std::move(right)](typename ReLu<Real>::codomain dY, SpoiltReLU& gradient) {
                           auto dX = right(std::move(dY), gradient);
                           for (std::size_t e = 0; e < dX.rows() * d_model; ++e) dX.data()[e] = Spoil{}(dX.data()[e]);
                           return dX;
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
                                           typename N<Real>::codomain dY, ForwardOrder& gradient) {
      return G_pullback(F_pullback(std::move(dY), gradient.f), gradient.g);
    });
  }
};

}  // namespace

TEST_CASE("each pullback is the transpose of the derivative: exactly, over dual numbers of the prime field") {
  for_each_layer([]<template <class> class Layer>(Listed<Layer> listed) {
    for (const std::uint64_t key : {21u, 22u}) {
      PrimeField::key = key;
      must_hold(transpose_fails<Layer, PrimeField>(listed.name, key));
    }
  });
}

TEST_CASE("each pullback is the transpose of the derivative: in double, within 1e-12") {
  for_each_layer([]<template <class> class Layer>(Listed<Layer> listed) {
    must_hold(transpose_fails<Layer, double>(listed.name, 1));
  });
}

TEST_CASE("pullbacks are linear, and can be applied again") {
  for_each_layer(
      []<template <class> class Layer>(Listed<Layer> listed) { must_hold(linearity_fails<Layer>(listed.name, 2)); });
}

TEST_CASE("the pullback of G∘F is that of F after that of G") {
  redrawing(3, [](Generator& generator) {
    using GF = Composition<N<PrimeField>, LN<PrimeField>>;
    const auto layer = draw_layer<GF>(generator);
    const auto X = draw_matrix<GF::domain>(Sequences{3}, generator),
               w = draw_matrix<GF::domain>(Sequences{3}, generator);
    auto [F_X, F_pullback] = layer.f.value_and_pullback(X);
    auto [Y, G_pullback] = layer.g.value_and_pullback(F_X);
    GF by_hand, gradient;
    const auto dX = F_pullback(G_pullback(w, by_hand.g), by_hand.f);
    must_be_equal("(G∘F)′(X)ᵀ = F′(X)ᵀ G′(F(X))ᵀ", "N∘LayerNorm", layer.value_and_pullback(X).pullback(w, gradient), dX,
                  3);
    return true;
  });
}

TEST_CASE("pullbacks of causal layers are anti-causal: dX_i depends on no dY_j with j < i") {
  for_each_layer([]<template <class> class Layer>(Listed<Layer> listed) {
    if constexpr (autoregressive<Layer<Positions>> && !reads_tokens<Layer<Positions>>)
      must_hold(anti_causality_fails<Layer>(listed.name));
  });
}

TEST_CASE("ReLU′(0) is 0, by choice; elsewhere there is none") {
  CHECK(relu_derivative(0.0) == 0);
  CHECK(relu_derivative(-0.0) == 0);
  CHECK(relu_derivative(1e-300) == 1);
  CHECK(relu_derivative(-1e-300) == 0);
}

TEST_CASE("control: a flipped sign is seen, in the layer and in composites that contain it, and where it is") {
  const auto alone = transpose_fails<FlippedReLU, PrimeField>("flipped ReLU", 21);
  REQUIRE(alone);
  CHECK(alone->entry == "X, row 1, column 1");
  CHECK(transpose_fails<FlippedReLU, double>("flipped ReLU", 1));
  const auto inside = transpose_fails<FlippedInside, PrimeField>("N∘Res(flipped ReLU∘(+K))", 21);
  REQUIRE(inside);
  CHECK(inside->entry == "K, row 1, column 1");  // the weights of N, behind it, have the right gradient
  CHECK(transpose_fails<FlippedInside, double>("N∘Res(flipped ReLU∘(+K))", 1));
}

TEST_CASE("control: a composition whose pullback runs forwards is seen") {
  CHECK(transpose_fails<ForwardOrder, PrimeField>("forwards", 21));
}

TEST_CASE("control: attention that sees one row of the future is not anti-causal, though its pullback is a transpose") {
  for (const auto& failure : {anti_causality_fails<OffByOneMask>("a mask j ≤ min(i+1, n)"),
                              anti_causality_fails<MH>("MultiHead, unmasked")}) {
    REQUIRE(failure);
    CHECK(failure->n == 2);
    CHECK(failure->i == 2);
  }
  must_hold(transpose_fails<OffByOneMask, PrimeField>("a mask j ≤ min(i+1, n)", 21));
}

TEST_CASE("control: a pullback with a constant added is not linear") {
  CHECK(linearity_fails<ShiftedPullback>("a pullback with 1 added", 2));
}
