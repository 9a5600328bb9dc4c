// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tlm/checking/claims.hpp>

/// Which rows depend on which: on no others, over sets of positions, and on all of these, over the prime field; and what all
/// four arithmetics say of a claim.
namespace tlm::checking {

/// What row i of T(X) may depend on at the most.
enum class Sees {
  no_other,  ///< no other row than i
  the_past,  ///< no other rows than 1, …, i
  nothing    ///< no row
};

/// As a sentence.
inline const char* sentence(Sees sees) {
  switch (sees) {
    case Sees::no_other:
      return "row i depends on no row but i";
    case Sees::the_past:
      return "row i depends on no row behind i";
    default:
      return "T(X) does not depend on X";
  }
}

/// The failure that a row depends on more, at n rows.
inline Failure at(std::string_view layer, Sees sees, std::size_t n) {
  Failure failure = failure_of(sentence(sees), "it depends on the rows", "and may depend on");
  failure.layer = layer;
  failure.arithmetic = arithmetic<Dependencies>();
  failure.n = n;
  return failure;
}

/// `sets`: row i of T(X) depends on no other rows of X than these. (Whether it depends on these, the sets do not say: x − x
/// keeps its tag.) Not for tokens, which carry no tags.
template <template <class> class Layer>
std::optional<Failure> trace_positions(std::string_view name, Sees sees, const Limits& limits = {}) {
  using T = Layer<Dependencies>;
  Generator generator{0};
  const auto layer = draw_layer<T>(generator);
  for (std::size_t n = 1; n <= limits.rows; ++n) {
    const auto Y = value_at(layer, tagged<typename T::domain>(Sequences{n}), at(name, sees, n));
    for (std::size_t i = 1; i <= Y.rows(); ++i) {
      Dependencies allowed{1};
      for (std::size_t r = sees == Sees::no_other ? i - 1 : 0; r < i && sees != Sees::nothing; ++r)
        allowed += Dependencies::position(r);
      for (std::size_t j = 0; j < T::codomain::cols; ++j)
        if ((Y(i - 1, j).tags() & ~allowed.tags()) != 0) {
          Failure found = with_sets(at(name, sees, n), i - 1, j, Y(i - 1, j), allowed);
          found.i = i;
          return found;
        }
    }
  }
  return std::nullopt;
}

/// `field`: every entry of row i of T(X) depends on each of the rows that the claim allows: on row i, or on 1, …, i. Each of
/// these, drawn anew, changes them all. (What does not change at two random points might at others: that it changes is
/// shown, that it would not is not.)
template <template <class> class Layer>
std::optional<Failure> a_row_does_not_count(std::string_view name, Claim claim, std::uint64_t seed = 13,
                                            const Limits& limits = {}) {
  using T = Layer<PrimeField>;
  using Rows = Target<typename T::domain>;
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layer = draw_layer<T>(generator);
    for (std::size_t n = 1; n <= limits.rows; ++n) {
      const auto X = draw_input<typename T::domain>(Sequences{n}, generator, limits);
      const auto Y = value_at(layer, X, at(name, claim, arithmetic<PrimeField>(), seed, n));
      for (std::size_t r = 1; r <= n; ++r) {
        auto other = X;
        for (std::size_t j = 0; j < Rows::cols; ++j) {
          auto& x = target(other)(r - 1, j);
          if constexpr (reads_tokens<T>)
            x = (x + 1) % int(limits.vocab_size);
          else
            x = PrimeField::random(generator);
        }
        const auto Z = layer(other);
        for (std::size_t i = r; i <= (claim == Claim::rowwise ? r : n); ++i)
          for (std::size_t j = 0; j < T::codomain::cols; ++j)
            if (Z(i - 1, j) == Y(i - 1, j))
              return Failure{
                  .claim =
                      claim == Claim::rowwise ? "row i depends on row i" : "row i depends on each of the rows 1, …, i",
                  .layer = std::string(name),
                  .arithmetic = arithmetic<PrimeField>(),
                  .seed = seed,
                  .n = n,
                  .i = i,
                  .entry = entry(i, j + 1),
                  .left = {"before and after another row " + std::to_string(r) + " it is", shown(Y(i - 1, j))}};
      }
    }
    return std::nullopt;
  });
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
  if constexpr (!reads_tokens<Layer<Dependencies>>)
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

/// T does not depend on X: not on its numbers, nor on how many rows they are. In floating point it stays the same bit for bit
/// whatever X is, NaN and ±∞ included.
template <template <class> class Layer, class Real, class Same = Agree>
std::optional<Failure> compare_inputs(std::string_view name, std::uint64_t seed, const Limits& limits = {},
                                      const Same& same = {}) {
  using T = Layer<Real>;
  using Rows = Target<typename T::domain>;
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layer = draw_layer<T>(generator);
    const auto Y = layer(draw_input<typename T::domain>(Sequences{1}, generator, limits));
    for (std::size_t n = 1; n <= limits.rows; ++n) {
      auto X = draw_input<typename T::domain>(Sequences{n}, generator, limits);
      if constexpr (std::is_same_v<Same, SameBits>)
        for (std::size_t e = 0; e < n * Rows::cols; ++e)
          target(X).data()[e] = spoilt<typename Rows::Real>(int(e % 5), generator, limits);
      auto found = seen_of(
          name, arithmetic<Real>(), seed,
          first_difference(failure_of(sentence(Sees::nothing), "T(X) gives", "T of another X, of one row, gives"),
                           layer(X), Y, 0, same));
      if (found) {
        found->n = n;
        return found;
      }
    }
    return std::nullopt;
  });
}

/// T does not depend on X, as far as running it can tell.
template <template <class> class Layer>
Verdict constant_verdict(std::string_view name, const Limits& limits = {}) {
  Verdict verdict;
  verdict.reals = compare_inputs<Layer, double>(name, 1, limits);
  verdict.bits = compare_inputs<Layer, float>(name, 2, limits, SameBits{});
  if (!verdict.bits) verdict.bits = compare_inputs<Layer, double>(name, 3, limits, SameBits{});
  verdict.field = compare_inputs<Layer, PrimeField>(name, 11, limits);
  if constexpr (!reads_tokens<Layer<Dependencies>>) verdict.sets = trace_positions<Layer>(name, Sees::nothing, limits);
  return verdict;
}

}  // namespace tlm::checking
