// Claim 9. Appending rows never changes what was computed for earlier ones: for an autoregressive T, the rows that
// `extend` computes from what it remembers, one at a time or several, are the rows of T of the whole. So cached decoding
// is right. (Notebook, transformerLM_output, which computes the whole again for every token.)
//
// Derivation. T(X|i) = T(X)|i: by induction over the structure of T, each part remembers what its formula reads of the
// earlier rows, which are the same for X|i and X.

#include <doctest/doctest.h>

#include <algorithm>

#include "checks.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

/// T of the whole against T extended by `step` rows at a time, for n = 1, …, 6: the first entry that differs.
template <template <class> class Layer, class Real>
std::optional<Failure> extend_in_steps(std::string_view name, std::size_t step, std::uint64_t seed) {
  using T = Layer<Real>;
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layer = draw_layer<T>(generator);
    for (std::size_t n = 1; n <= greatest_n; ++n) {
      auto X = draw_matrix<typename T::domain>(Sequences{n}, generator);
      if constexpr (std::is_same_v<typename T::domain::Real, Positions>) X = tagged<typename T::domain>(Sequences{n});
      const auto Y = layer(X);
      State<T> state;
      for (std::size_t i = 0; i < n; i += step) {
        const std::size_t count = std::min(step, n - i);
        const auto failure = first_difference(
            {"extending gives the rows of the whole", std::string(name), arithmetic<Real>(), seed, n, i + 1},
            extend(layer, state, rows_from(X, i, count)), rows_from(Y, i, count), i);
        if (failure) return failure;
      }
    }
    return std::nullopt;
  });
}

}  // namespace

TEST_CASE(
    "extending by one row equals the last row of the whole: the field and the sets exactly, double within 1e-12") {
  for_each_layer([]<template <class> class Layer>(Listed<Layer> listed) {
    if constexpr (autoregressive<Layer<double>>)
      for (const std::size_t step : {1u, 2u, 5u}) {
        must_hold(extend_in_steps<Layer, double>(listed.name, step, 1));
        for (const std::uint64_t key : {11u, 12u}) {
          PrimeField::key = key;
          must_hold(extend_in_steps<Layer, PrimeField>(listed.name, step, key));
        }
        must_hold(extend_in_steps<Layer, Positions>(listed.name, step, 0));
      }
  });
}

TEST_CASE("sequences of a stack are extended independently of each other") {
  redrawing(2, [](Generator& generator) {
    const auto model = draw_layer<T_LM<PrimeField>>(generator);
    const auto x = draw_matrix<Tokens>(Sequences{3}, generator), y = draw_matrix<Tokens>(Sequences{5}, generator);
    State<T_LM<PrimeField>> state;
    extend(model, state, stack<1, Token>({x | 1, y | 2}));
    const auto rows = extend(model, state, stack<1, Token>({rows_from(x, 1, 2), rows_from(y, 2, 3)}));
    must_be_equal("extending gives the rows of the whole", "T_LM", sequence(rows, 0), rows_from(model(x), 1, 2), 2);
    must_be_equal("extending gives the rows of the whole", "T_LM", sequence(rows, 1), rows_from(model(y), 2, 3), 2);
    return true;
  });
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
