// SPDX-License-Identifier: MIT
// Claim 9. Appending rows never changes what was computed for earlier ones: for an autoregressive T, the rows that
// `extend` computes from what it remembers, one at a time or several, are the rows of T of the whole. So cached decoding
// is right. (Notebook, transformerLM_output, which computes the whole again for every token.)
//
// Derivation. T(X|i) = T(X)|i: by induction over the structure of T, each part remembers what its formula reads of the
// earlier rows, which are the same for X|i and X.

#include <doctest/doctest.h>

#include <algorithm>

#include "generic.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

TEST_CASE(
    "extending by pieces gives the rows of the whole, for all ways to split n ≤ 6 rows: the field and the sets "
    "exactly, double within 1e-12") {
  for_each_layer([]<template <class> class Layer>(Listed<Layer> listed) {
    if constexpr (autoregressive<Layer<double>>) {
      must_hold(extension_fails<Layer, double>(listed.name, 1));
      for (const std::uint64_t key : {11u, 12u}) {
        PrimeField::key = key;
        must_hold(extension_fails<Layer, PrimeField>(listed.name, key));
      }
      must_hold(extension_fails<Layer, Positions>(listed.name, 0));
    }
  });
}

TEST_CASE(
    "a formula is extended by extending its parts: compositions, stacks, sums, Concat, products, attention to X and to "
    "a "
    "memory, and tied weights, of generic parts: exactly, over the prime field, for all ways to split n ≤ 6 rows") {
  for_each_generic_formula([]<template <class> class Layer>(Listed<Layer> listed) {
    must_hold(extension_fails<Layer, PrimeField>(listed.name, 11));
  });
}

TEST_CASE("sequences of a stack are extended independently of each other: for all ways to split 2 and 5 rows") {
  must_hold(extension_fails<T_LM, PrimeField>("T_LM", {2, 5}, 2));
}

TEST_CASE("control: forgetting what was read gives other rows") {
  redrawing(3, [](Generator& generator) {
    const auto model = draw_layer<T_LM<PrimeField>>(generator);
    const auto x = draw_matrix<Tokens>(Sequences{2}, generator);
    State<T_LM<PrimeField>> nothing_read;
    CHECK(!(extend(model, nothing_read, rows_from(x, 1, 1)) == rows_from(model(x), 1, 1)));
    return true;
  });
}
