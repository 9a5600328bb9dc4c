// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tlm/checking/claims.hpp>

/// Which rows depend on which, over sets of positions; and what all four arithmetics say of a claim.
namespace tlm::checking {

/// What row i of T(X) is to depend on.
enum class Sees {
  no_other,         ///< no other row than i
  only_itself,      ///< exactly row i
  the_past,         ///< no other rows than 1, …, i
  all_of_the_past,  ///< exactly the rows 1, …, i
  nothing           ///< no row
};

/// As a sentence.
inline const char* sentence(Sees sees) {
  switch (sees) {
    case Sees::no_other:
      return "row i depends on no row but i";
    case Sees::only_itself:
      return "row i depends on row i and no other";
    case Sees::the_past:
      return "row i depends on no row behind i";
    case Sees::all_of_the_past:
      return "row i depends on all of the rows 1, …, i and no other";
    default:
      return "T(X) does not depend on X";
  }
}

/// `sets`: which rows of X row i of T(X) depends on. Not for tokens, which carry no tags.
template <template <class> class Layer>
std::optional<Failure> trace_positions(std::string_view name, Sees sees, const Limits& limits = {}) {
  using T = Layer<Positions>;
  Generator generator{0};
  const auto layer = draw_layer<T>(generator);
  for (std::size_t n = 1; n <= limits.rows; ++n) {
    const auto Y = layer(tagged<typename T::domain>(Sequences{n}));
    for (std::size_t i = 1; i <= Y.rows(); ++i) {
      Positions expected{1};
      for (std::size_t r = sees == Sees::no_other || sees == Sees::only_itself ? i - 1 : 0;
           r < i && sees != Sees::nothing; ++r)
        expected += Positions::position(r);
      const bool exactly = sees == Sees::only_itself || sees == Sees::all_of_the_past;
      for (std::size_t j = 0; j < T::codomain::cols; ++j) {
        const auto tags = Y(i - 1, j).tags();
        if (exactly ? tags != expected.tags() : (tags & ~expected.tags()) != 0)
          return Failure{.claim = sentence(sees),
                         .layer = std::string(name),
                         .arithmetic = arithmetic<Positions>(),
                         .n = n,
                         .i = i,
                         .entry = entry(i, j + 1),
                         .left = {"it depends on the rows", shown(Y(i - 1, j))},
                         .right = {exactly ? "and is to depend on" : "and may depend on", shown(expected)}};
      }
    }
  }
  return std::nullopt;
}

/// The claim about T over all four arithmetics, each with seeds and keys of its own. Tokens carry no tags: of a layer
/// that reads tokens `sets` sees nothing.
template <template <class> class Layer>
Verdict verdict(std::string_view name, Claim claim, const Limits& limits = {}) {
  Verdict verdict;
  verdict.reals = compare_parts<Layer, double>(name, claim, 1, limits);
  verdict.bits = spoil_other_rows<Layer, float>(name, claim, 2, limits);
  if (!verdict.bits) verdict.bits = spoil_other_rows<Layer, double>(name, claim, 3, limits);
  for (const std::uint64_t key : {11u, 12u}) {
    PrimeField::key = key;
    if (!verdict.field) verdict.field = compare_parts<Layer, PrimeField>(name, claim, key, limits);
  }
  if constexpr (!reads_tokens<Layer<Positions>>)
    verdict.sets = trace_positions<Layer>(name, claim == Claim::rowwise ? Sees::no_other : Sees::the_past, limits);
  return verdict;
}

/// T is autoregressive, as far as running it can tell.
template <template <class> class Layer>
Verdict autoregressive_verdict(std::string_view name, const Limits& limits = {}) {
  return verdict<Layer>(name, Claim::autoregressive, limits);
}

/// T is rowwise, as far as running it can tell.
template <template <class> class Layer>
Verdict rowwise_verdict(std::string_view name, const Limits& limits = {}) {
  return verdict<Layer>(name, Claim::rowwise, limits);
}

/// T does not depend on X: not on its numbers, nor on how many rows they are.
template <template <class> class Layer, class Real>
std::optional<Failure> compare_inputs(std::string_view name, std::uint64_t seed, const Limits& limits = {}) {
  using T = Layer<Real>;
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layer = draw_layer<T>(generator);
    const auto Y = layer(draw_input<typename T::domain>(Sequences{1}, generator, limits));
    for (std::size_t n = 1; n <= limits.rows; ++n) {
      const auto found = first_difference({.claim = sentence(Sees::nothing),
                                           .layer = std::string(name),
                                           .arithmetic = arithmetic<Real>(),
                                           .seed = seed,
                                           .n = n,
                                           .left = {"T(X) gives", ""},
                                           .right = {"T of another X, of one row, gives", ""}},
                                          layer(draw_input<typename T::domain>(Sequences{n}, generator, limits)), Y);
      if (found) return found;
    }
    return std::nullopt;
  });
}

/// T does not depend on X, as far as running it can tell: in double, over the field and over sets of positions.
template <template <class> class Layer>
Verdict constant_verdict(std::string_view name, const Limits& limits = {}) {
  Verdict verdict;
  verdict.reals = compare_inputs<Layer, double>(name, 1, limits);
  verdict.field = compare_inputs<Layer, PrimeField>(name, 11, limits);
  if constexpr (!reads_tokens<Layer<Positions>>) verdict.sets = trace_positions<Layer>(name, Sees::nothing, limits);
  return verdict;
}

}  // namespace tlm::checking
