// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "../../proofs/support.hpp"
#include "../layers.hpp"

using namespace tlm;
using namespace tlm::tests;
using checking::gradient_fails, proofs::Listed, proofs::must_hold;

TEST_CASE("the pullback of every listed layer agrees with central differences") {
  proofs::for_each_layer(
      []<template <class> class Layer>(Listed<Layer> listed) { must_hold(gradient_fails<Layer>(listed.name, 1)); });
}

namespace {
template <class Real>
using ThreeHeads = CausalAttention<d_model, 3, Real>;
}  // namespace

TEST_CASE("and that of CA with more heads than columns of a head") {
  must_hold(gradient_fails<ThreeHeads>("CA of three heads", 1));
}

TEST_CASE("N at a constant row: σ = 0, and the derivative is (I − 11ᵀ/d)/ε all the same") {
  using N = Normalization<"N", d_model, double>;
  Generator generator{1};
  N layer = random_layer<N>(generator);
  const auto Y_bar = random_rows<N::domain>(Sequences{1}, generator);
  for (const double constant : {0.0, 0.5}) {
    CAPTURE(constant);
    N gradient;
    const auto X_bar = layer.value_and_pullback(N::domain{Sequences{1}, constant}).pullback(Y_bar, gradient);
    double mean = 0;
    for (std::size_t j = 0; j < d_model; ++j) mean += layer.a(0, j) * Y_bar(0, j) / double(d_model);
    for (std::size_t j = 0; j < d_model; ++j) {
      CAPTURE(j);
      CHECK(X_bar(0, j) == doctest::Approx((layer.a(0, j) * Y_bar(0, j) - mean) / 1e-6).epsilon(1e-12));
    }
  }

  // By differences too, at steps so small that σ stays far below ε. (b is 0, lest they be rounded away.)
  layer.b = {};
  must_hold(gradient_fails("N", layer, N::domain{Sequences{1}, 0.0}, Y_bar, 1e-14));
}

TEST_CASE("ReLU at 0: the derivative is chosen to be 0") {
  using R = ReLU<3, double>;
  R gradient;
  const auto X_bar = R{}.value_and_pullback({-1, 0, 1}).pullback(R::codomain{5, 6, 7}, gradient);
  CHECK(X_bar == R::domain{0, 0, 7});
}
