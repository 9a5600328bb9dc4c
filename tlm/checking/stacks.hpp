// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tlm/checking/verdicts.hpp>
#include <tlm/matrix/function_ref.hpp>

/// The sequences of a stack do not affect each other, whatever their lengths: over all four arithmetics.
namespace tlm::checking {

/// Lengths of the sequences of the stacks that are checked, the smallest first; none longer than the limit.
inline std::vector<Sequences> stacks(const Limits& limits,
                                     std::initializer_list<std::initializer_list<std::size_t>> lengths) {
  std::vector<Sequences> all;
  for (std::vector<std::size_t> of_one : lengths) {
    for (std::size_t& length : of_one) length = std::min(length, limits.rows);
    all.push_back(Sequences::of_lengths(of_one));
  }
  return all;
}

/// The failure that `check` finds on the first of these stacks, with what it was seen of; where a denominator of the prime
/// field is 0, all is drawn anew.
inline std::optional<Failure> on_stacks(std::string_view layer, const char* arithmetic, std::uint64_t seed,
                                        const std::vector<Sequences>& stacks,
                                        FunctionRef<std::optional<Failure>(const Sequences&, Generator&)> check) {
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    for (const Sequences& sequences : stacks)
      if (auto found = seen_of(layer, arithmetic, seed, check(sequences, generator))) {
        found->place = within(sequences);
        return found;
      }
    return std::nullopt;
  });
}

/// `reals` and `field`: T of a stack is the stack of T. A sequence without rows is among them.
template <template <class> class Layer, class Real>
std::optional<Failure> compare_stack(std::string_view name, std::uint64_t seed, const Limits& limits = {}) {
  using T = Layer<Real>;
  const auto on = [&](const Sequences& sequences, Generator& generator) {
    const auto layer = draw_layer<T>(generator);
    std::vector<typename T::domain> alone;
    std::vector<typename T::codomain> results;
    for (std::size_t s = 0; s < sequences.count(); ++s) {
      alone.push_back(draw_input<typename T::domain>(Sequences::of_lengths({sequences.length(s)}), generator, limits));
      results.push_back(layer(alone.back()));
    }
    return first_difference(
        failure_of("T of a stack is the stack of T", "T of the stack gives", "T of the sequence alone gives"),
        layer(stacked(alone)), concat_sequences(results));
  };
  return on_stacks(name, arithmetic<Real>(), seed, stacks(limits, {{1, 1}, {2, 1}, {3, 1, 0, 6, 2}}), on);
}

/// The failure that one sequence of a stack, spoilt in this way, affects another.
inline Failure affected(std::size_t s, std::size_t t, const char* way) {
  return {.claim = "sequence " + std::to_string(s + 1) + " does not affect sequence " + std::to_string(t + 1),
          .left = {std::string("where the one is ") + way + ", T gives for the other", ""},
          .right = {"before, T gave", ""}};
}

/// `bits`: what is done to one sequence of a stack leaves the others the same bit for bit.
template <template <class> class Layer, class Real>
std::optional<Failure> spoil_other_sequences(std::string_view name, std::uint64_t seed, const Limits& limits = {}) {
  using T = Layer<Real>;
  Generator generator{seed};
  const auto layer = draw_layer<T>(generator);
  const auto spoil = [&](auto& rows, std::size_t s, int way) {
    for (std::size_t r = rows.sequences().begin(s); r < rows.sequences().end(s); ++r)
      for (std::size_t j = 0; j < rows.cols; ++j)
        rows(r, j) = spoilt<typename std::remove_cvref_t<decltype(rows)>::Real>(way, generator, limits);
  };
  for (const Sequences& sequences : stacks(limits, {{1, 1}, {3, 1, 2}})) {
    const auto X = draw_input<typename T::domain>(sequences, generator, limits);
    const auto Y = layer(X);
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (int way = 0; way < 5; ++way) {
        auto other = X;
        if constexpr (Pair<typename T::domain>) spoil(other.x, s, way);
        spoil(target(other), s, way);
        const auto Z = layer(other);
        for (std::size_t t = 0; t < sequences.count(); ++t) {
          if (t == s) continue;
          using Entry = typename Target<typename T::domain>::Real;
          auto found = seen_of(name, arithmetic<Real>(), seed,
                               first_difference(affected(s, t, way_to_spoil<Entry>(way)), sequence(Z, t),
                                                sequence(Y, t), sequences.begin(t), SameBits{}));
          if (found) {
            found->place = within(sequences);
            return found;
          }
        }
      }
  }
  return std::nullopt;
}

/// The failure that a sequence of a stack depends on another.
inline Failure depends_on_another(std::string_view layer, const Sequences& sequences) {
  Failure failure = failure_of("a sequence depends on no other", "it depends on the sequences", "and may depend on");
  failure.layer = layer;
  failure.arithmetic = "sets of sequences";
  failure.place = within(sequences);
  return failure;
}

/// `sets`: the rows of a sequence depend on no rows of other sequences, for every input and all weights of that shape.
template <template <class> class Layer>
std::optional<Failure> trace_sequences(std::string_view name, const Limits& limits = {}) {
  using T = Layer<Dependencies>;
  Generator generator{0};
  const auto layer = draw_layer<T>(generator);
  for (const Sequences& sequences : stacks(limits, {{1, 1}, {3, 1, 2}})) {
    typename T::domain X{sequences};
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (std::size_t r = sequences.begin(s); r < sequences.end(s); ++r)
        for (std::size_t j = 0; j < T::domain::cols; ++j) X(r, j) = Dependencies::position(s);
    const auto Y = layer(X);
    for (std::size_t s = 0; s < Y.sequences().count(); ++s)
      for (std::size_t r = Y.sequences().begin(s); r < Y.sequences().end(s); ++r)
        for (std::size_t j = 0; j < T::codomain::cols; ++j)
          if ((Y(r, j).tags() & ~Dependencies::position(s).tags()) != 0)
            return with_sets(depends_on_another(name, sequences), r, j, Y(r, j), Dependencies::position(s));
  }
  return std::nullopt;
}

/// The sequences of a batch do not affect each other, as far as running T can tell.
template <template <class> class Layer>
Verdict sequences_verdict(std::string_view name, const Limits& limits = {}) {
  Verdict verdict;
  verdict.reals = compare_stack<Layer, double>(name, 1, limits);
  verdict.bits = spoil_other_sequences<Layer, float>(name, 2, limits);
  if (!verdict.bits) verdict.bits = spoil_other_sequences<Layer, double>(name, 3, limits);
  verdict.field = compare_stack<Layer, PrimeField>(name, 11, limits);
  if constexpr (!reads_tokens<Layer<Dependencies>>) verdict.sets = trace_sequences<Layer>(name, limits);
  return verdict;
}

}  // namespace tlm::checking
