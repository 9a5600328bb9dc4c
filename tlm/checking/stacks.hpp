// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tlm/checking/verdicts.hpp>

/// The sequences of a stack do not affect each other, whatever their lengths: over all four arithmetics.
namespace tlm::checking {

/// Lengths of the sequences of the stacks that are checked, the smallest first; none longer than the limit.
inline std::vector<Sequences> stacks(const Limits& limits, std::vector<std::vector<std::size_t>> lengths) {
  std::vector<Sequences> all;
  for (auto& of_one : lengths) {
    for (std::size_t& length : of_one) length = std::min(length, limits.rows);
    all.push_back(Sequences::of_lengths(of_one));
  }
  return all;
}

/// `reals` and `field`: T of a stack is the stack of T. A sequence without rows is among them.
template <template <class> class Layer, class Real>
std::optional<Failure> compare_stack(std::string_view name, std::uint64_t seed, const Limits& limits = {}) {
  using T = Layer<Real>;
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layer = draw_layer<T>(generator);
    for (const Sequences& sequences : stacks(limits, {{1, 1}, {2, 1}, {3, 1, 0, 6, 2}})) {
      std::vector<typename T::domain> alone;
      std::vector<typename T::codomain> results;
      for (std::size_t s = 0; s < sequences.count(); ++s) {
        alone.push_back(
            draw_input<typename T::domain>(Sequences::of_lengths({sequences.length(s)}), generator, limits));
        results.push_back(layer(alone.back()));
      }
      const auto found = first_difference({.claim = "T of a stack is the stack of T",
                                           .layer = std::string(name),
                                           .arithmetic = arithmetic<Real>(),
                                           .seed = seed,
                                           .place = within(sequences),
                                           .left = {"T of the stack gives", ""},
                                           .right = {"T of the sequence alone gives", ""}},
                                          layer(stacked(alone)), stack(results));
      if (found) return found;
    }
    return std::nullopt;
  });
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
          const auto found = first_difference(
              {.claim = "sequence " + std::to_string(s + 1) + " does not affect sequence " + std::to_string(t + 1),
               .layer = std::string(name),
               .arithmetic = arithmetic<Real>(),
               .seed = seed,
               .place = within(sequences),
               .left = {std::string("where the one is ") + way_to_spoil<Entry>(way) + ", T gives for the other", ""},
               .right = {"before, T gave", ""}},
              sequence(Z, t), sequence(Y, t), sequences.begin(t), SameBits{});
          if (found) return found;
        }
      }
  }
  return std::nullopt;
}

/// `sets`: the rows of a sequence depend on no rows of other sequences, for every input and all weights of that shape.
template <template <class> class Layer>
std::optional<Failure> trace_sequences(std::string_view name, const Limits& limits = {}) {
  using T = Layer<Positions>;
  Generator generator{0};
  const auto layer = draw_layer<T>(generator);
  for (const Sequences& sequences : stacks(limits, {{1, 1}, {3, 1, 2}})) {
    typename T::domain X{sequences};
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (std::size_t r = sequences.begin(s); r < sequences.end(s); ++r)
        for (std::size_t j = 0; j < T::domain::cols; ++j) X(r, j) = Positions::position(s);
    const auto Y = layer(X);
    for (std::size_t s = 0; s < Y.sequences().count(); ++s)
      for (std::size_t r = Y.sequences().begin(s); r < Y.sequences().end(s); ++r)
        for (std::size_t j = 0; j < T::codomain::cols; ++j)
          if ((Y(r, j).tags() & ~Positions::position(s).tags()) != 0)
            return Failure{.claim = "a sequence depends on no other",
                           .layer = std::string(name),
                           .arithmetic = "sets of sequences",
                           .place = within(sequences),
                           .entry = entry(r + 1, j + 1),
                           .left = {"it depends on the sequences", shown(Y(r, j))},
                           .right = {"and may depend on", shown(Positions::position(s))}};
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
  if constexpr (!reads_tokens<Layer<Positions>>) verdict.sets = trace_sequences<Layer>(name, limits);
  return verdict;
}

}  // namespace tlm::checking
