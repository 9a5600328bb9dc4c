// SPDX-License-Identifier: MIT
// Claim 1. Rowwise operations are autoregressive. Compositions of rowwise operations are rowwise, compositions of
// autoregressive operations are autoregressive, and so are X ↦ X + F(X) and Concat(F_1(X), …, F_h(X)).
// (Article, "Rowwise and autoregressive matrix operations".)
//
// Derivation. Let T be rowwise and X have n rows. Row k of T(X|i) is T((X|i)_k) = T(X_k), which is row k of T(X), for
// k ≤ i. For autoregressive F and G, G(F(X|i)) = G(F(X)|i) = G(F(X))|i; sums and rows side by side are made row by row.
//
// By types: the rules of tlm/algebra/claims.hpp. By running: compositions, residuals and concatenations of each kind over
// all four arithmetics, and one of each that a wrong part spoils. (The composites of the sources are claims 5 and 10.)

#include <doctest/doctest.h>

#include "controls.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

// A rowwise leaf is autoregressive; an autoregressive leaf need not be rowwise; an unrestricted one is neither.
static_assert(rowwise<N<double>> && autoregressive<N<double>>);
static_assert(!rowwise<PE<double>> && autoregressive<PE<double>>);
static_assert(!rowwise<ColumnNormalization<double>> && !autoregressive<ColumnNormalization<double>>);

template <class Real>
using RowwiseComposition = Composition<ReLu<Real>, PlusK<Real>, N<Real>>;
template <class Real>
using AutoregressiveComposition = Composition<N<Real>, PE<Real>, H<Real>>;
template <class Real>
using BrokenComposition = Composition<N<Real>, ColumnNormalization<Real>>;
template <class Real>
using ResOfRowwise = Res<N<Real>>;
template <class Real>
using ResOfAutoregressive = Res<H<Real>>;
template <class Real>
using ResOfBroken = Res<ColumnNormalization<Real>>;

/// A head with a name of its own.
template <Symbol name, class Real>
struct Named : OneHead<Real> {
  static constexpr std::string_view symbol = name;
};
template <class Real>
using TwoHeads = Concat<Named<"H_1", Real>, Named<"H_2", Real>>;
template <class Real>
using RowsSideBySide = Concat<N<Real>, PlusK<Real>, ReLu<Real>>;
template <class Real>
using OneHeadAndBroken = Concat<OneHead<Real>, ColumnNormalization<Real>>;
static_assert(autoregressive<TwoHeads<double>> && !rowwise<TwoHeads<double>>);
static_assert(rowwise<RowsSideBySide<double>>);
static_assert(!autoregressive<OneHeadAndBroken<double>>);
static_assert(autoregressive<OneHead<double>> && autoregressive<H<double>>);

static_assert(rowwise<RowwiseComposition<double>> && autoregressive<RowwiseComposition<double>>);
static_assert(!rowwise<AutoregressiveComposition<double>> && autoregressive<AutoregressiveComposition<double>>);
static_assert(!autoregressive<BrokenComposition<double>>);  // one factor is enough to spoil it
static_assert(rowwise<ResOfRowwise<double>>);
static_assert(!rowwise<ResOfAutoregressive<double>> && autoregressive<ResOfAutoregressive<double>>);
static_assert(!autoregressive<ResOfBroken<double>>);

TEST_CASE("rowwise operations are autoregressive") {
  for_each_layer([]<template <class> class Layer>(Listed<Layer> listed) {
    if constexpr (rowwise<Layer<double>>) {
      static_assert(autoregressive<Layer<double>>);
      must_hold(autoregressive_verdict<Layer>(listed.name));
    }
  });
}

TEST_CASE("compositions of rowwise operations are rowwise") {
  must_hold(rowwise_verdict<RowwiseComposition>("ReLU∘(+K)∘N"));
}

TEST_CASE("compositions of autoregressive operations are autoregressive") {
  must_hold(autoregressive_verdict<AutoregressiveComposition>("N∘PE∘H"));
}

TEST_CASE("X + F(X) is rowwise or autoregressive as F is") {
  must_hold(rowwise_verdict<ResOfRowwise>("Res(N)"));
  must_hold(autoregressive_verdict<ResOfAutoregressive>("Res(H)"));
}

TEST_CASE("concatenation of autoregressive operations is autoregressive") {
  must_hold(autoregressive_verdict<OneHead>("H_1"));
  must_hold(autoregressive_verdict<TwoHeads>("Concat(H_1, H_2)"));
}

TEST_CASE("concatenation of rowwise operations is rowwise") {
  must_hold(rowwise_verdict<RowsSideBySide>("Concat(N, X+K, ReLU)"));
}

TEST_CASE("H(X) = Concat(H_1(X), …, H_h(X)): head i uses the i-th blocks of columns of W_Q, W_K and W_V") {
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

TEST_CASE("control: one part that is not autoregressive spoils a composition, a residual and a concatenation") {
  CHECK(autoregressive_verdict<OneHeadAndBroken>("Concat(H_1, columns)").field);
  CHECK(autoregressive_verdict<BrokenComposition>("N∘(columns)").field);
  CHECK(autoregressive_verdict<ResOfBroken>("Res(columns)").field);
}
