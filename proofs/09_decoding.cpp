// SPDX-License-Identifier: MIT
// Claim 9. Appending rows never changes what was computed for earlier ones. For an autoregressive T, `advance` computes
// rows from what it remembers, one at a time or several. These are the rows of T for the whole. So cached decoding is
// right. (Notebook, transformerLM_output, which computes the whole again for every token.) A beam search of width 1 is
// greedy.
//
// Derivation. T(X|i) = T(X)|i: by induction over the structure of T, each part remembers what its formula reads of the
// earlier rows, which are the same for X|i and X. A beam of width 1 keeps the continuation with the maximum of log
// p(beginning) + z_j − log Σ_i exp(z_i). That is the one with the maximum score z_j, the token of greedy decoding.
//
// Here this is checked for formulas of generic parts, and for whole encoder–decoders. 04_leaves checks it for each
// layer of the list, and 05_transformer for T_LM.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tlm/decoding/beam_search.hpp>

#include "generic.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

TEST_CASE(
    "a formula is extended by extending its parts: compositions, stacks, sums, Concat, products, attention of one "
    "head to X and to a memory, and tied weights, of generic parts: exactly, over the prime field, for all ways to "
    "split n ≤ 6 rows "
    "(theorems for ∘, sums, Concat and causal attention; none for a memory or tied weights)" *
    doctest::description("Composition_extension, Zip_extension, Product_extension, extending_is_computing_at_once, "
                         "earlier_rows_stand")) {
  for_each(generic_formulas, []<template <class> class Layer>(Listed<Layer> listed) {
    must_hold(extension_fails(OperationOf<Layer<PrimeField>, both_faces>{listed.name}, 11));
  });
}

TEST_CASE(
    "the three encoder–decoders are extended by pieces of y, for all ways to split n ≤ 4 rows, and a stack of 3 and "
    "2: exactly over the prime field") {
  const auto check = [](const Operation<PrimeField>& T, std::uint64_t seed) {
    must_hold(extension_fails(T, seed, {.rows = 4}));
  };
  check(OperationOf<FormulatedModel<PrimeField>, both_faces>{"the formulated model"}, 5);
  check(OperationOf<NumpyModel<PrimeField>, both_faces>{"the NumPy notebook's model"}, 6);
  check(OperationOf<WolframModel<PrimeField>, both_faces>{"the Wolfram article's model"}, 7);
}

namespace {

/// The tokens that a model generates when the whole text is computed again for every token. (Notebook,
/// transformerLM_output.)
template <class T>
std::vector<Token> decoded_without_memory(const T& model, const std::vector<Token>& given,
                                          const GenerationLimits& limits) {
  constexpr bool has_source = Pair<typename T::domain>;
  std::vector<Token> said{limits.start};
  if constexpr (!has_source) said.insert(said.end(), given.begin(), given.end());
  while (said.size() < limits.max_len) {
    const auto Y = [&] {
      if constexpr (has_source)
        return before_softmax(model)({Tokens{given}, Tokens{said}});
      else
        return before_softmax(model)(Tokens{said});
    }();
    std::size_t best = 0;
    for (std::size_t token = 1; token < vocab_size; ++token)
      if (Y(Y.rows() - 1, token) > Y(Y.rows() - 1, best)) best = token;
    said.push_back(Token(best));
    if (said.back() == limits.end) break;
  }
  return {said.begin() + 1, said.end()};
}

}  // namespace

TEST_CASE(
    "greedy decoding from a state generates the same tokens as computing the whole again for every token: T_LM and the "
    "three encoder–decoders in double, 20 draws of weights and of 1 to 3 given tokens each, up to 9 tokens") {
  std::size_t said = 0;
  const auto check = [&]<class T>(const char* name, T*) {
    Generator generator{4};
    for (int draws = 0; draws < 20; ++draws) {
      const auto model = draw_layer<T>(generator);
      std::vector<Token> given(std::size_t(generator.integer(1, 3)));
      for (Token& token : given) token = generator.integer(0, int(vocab_size) - 1);
      const GenerationLimits limits{.start = 1, .end = 2, .max_len = max_len};
      const auto answer = decode(model, given, limits);
      INFO(std::string(name), ", draw ", draws);
      REQUIRE(answer == decoded_without_memory(model, given, limits));
      said += answer.size();
    }
  };
  check("T_LM", static_cast<T_LM<double>*>(nullptr));
  check("the formulated model", static_cast<FormulatedModel<double>*>(nullptr));
  check("the NumPy notebook's model", static_cast<NumpyModel<double>*>(nullptr));
  check("the Wolfram article's model", static_cast<WolframModel<double>*>(nullptr));
  CHECK(said > 4 * 20 * 3);  // or little was compared
}

TEST_CASE(
    "a beam of width 1 generates the same tokens as greedy decoding, for α = 0 and 0.6: T_LM and the three "
    "encoder–decoders in double, 20 draws of weights and of 1 to 3 given tokens each, up to 9 tokens; and a beam of "
    "width 3 does not (control)") {
  const auto check = [&]<class T>(const char* name, T*) {
    Generator generator{5};
    std::size_t others = 0;
    for (int draws = 0; draws < 20; ++draws) {
      const auto model = draw_layer<T>(generator);
      std::vector<Token> given(std::size_t(generator.integer(1, 3)));
      for (Token& token : given) token = generator.integer(0, int(vocab_size) - 1);
      const GenerationLimits limits{.start = 1, .end = 2, .max_len = max_len};
      const auto greedy = decode(model, given, limits);
      INFO(std::string(name), ", draw ", draws);
      for (const double alpha : {0.0, 0.6}) {
        const auto found = beam_search(model, given, limits, {.width = 1, .alpha = alpha});
        REQUIRE(found.size() == 1);
        REQUIRE(found.front().text == greedy);
      }
      others += beam_search(model, given, limits, {.width = 3}).front().text != greedy;
    }
    INFO(std::string(name));
    CHECK(others > 0);
  };
  check("T_LM", static_cast<T_LM<double>*>(nullptr));
  check("the formulated model", static_cast<FormulatedModel<double>*>(nullptr));
  check("the NumPy notebook's model", static_cast<NumpyModel<double>*>(nullptr));
  check("the Wolfram article's model", static_cast<WolframModel<double>*>(nullptr));
}

namespace {

/// Row i is the sum of the rows up to i. The states remember the sums so far, and copies of a state the same ones.
template <class Real>
struct SumsInCommon {
  using declared = is::Autoregressive;
  using domain = Matrix<n, 1, Real>;
  using codomain = domain;
  struct State {
    std::vector<std::size_t> lengths;
    std::shared_ptr<std::vector<std::vector<Real>>> sums;
  };

  codomain operator()(domain X) const {
    State no_rows{};
    return extend(no_rows, std::move(X));
  }
  codomain extend(State& state, domain X) const {
    const Sequences& sequences = X.sequences();
    state.lengths.resize(sequences.count());
    if (!state.sums) state.sums = std::make_shared<std::vector<std::vector<Real>>>(sequences.count());
    for (std::size_t s = 0; s < sequences.count(); ++s) {
      auto& sums = (*state.sums)[s];
      sums.resize(state.lengths[s]);
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i) {
        if (!sums.empty()) X(i, 0) += sums.back();
        sums.push_back(X(i, 0));
      }
      state.lengths[s] = sums.size();
    }
    return X;
  }
  auto value_and_pullback(domain X) const {
    return with_pullback((*this)(std::move(X)), [](codomain Y_bar, SumsInCommon&) { return Y_bar; });
  }
  static constexpr void weights(auto&&, auto&) {}
};

}  // namespace

TEST_CASE("control: states whose copies have the same memory are seen") {
  CHECK(fails(extension_fails(OperationOf<SumsInCommon<PrimeField>, extension_face>{"sums"}, 11)));
}

static_assert(!std::is_constructible_v<Generation<T_LM<double>>, T_LM<double>, std::vector<std::vector<Token>>,
                                       GenerationLimits>);  // the model would end before

TEST_CASE("a text that is not continued, one that has ended, and a token that is none are refused") {
  const T_LM<double> model{};
  Generation generation{model, {{1}}, {.start = 0, .end = 2, .max_len = 9}};
  generation.next_scores();
  CHECK_THROWS_WITH_AS(generation.next_scores(),
                       "text 0 was not continued after its last scores: append a token to it first", std::logic_error);
  CHECK_THROWS_WITH_AS(generation.append(0, Token(vocab_size)), "token 5 is not in the vocabulary: tokens are 0 to 4",
                       std::out_of_range);
  CHECK_THROWS_WITH_AS(generation.append(1, 2), "there is no text 1, only 1 of them, from 0", std::out_of_range);
  CHECK_THROWS_AS((void(generation.text(1)), void(generation.ended(1))), std::out_of_range);
  generation.append(0, 2);
  CHECK_THROWS_WITH_AS(generation.append(0, 1), "text 0 has ended: nothing is appended to it", std::logic_error);
}

TEST_CASE("control: forgetting what was read gives other rows") {
  redrawing(3, [](Generator& generator) {
    const auto model = draw_layer<T_LM<PrimeField>>(generator);
    const auto x = draw_matrix<Tokens>(Sequences{2}, generator);
    State<T_LM<PrimeField>> nothing_read;
    CHECK(!same(advance(model, nothing_read, rows(x, 1, 1)), rows(model(x), 1, 1)));
    return true;
  });
}
