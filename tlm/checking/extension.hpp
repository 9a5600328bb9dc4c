// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/algebra/environment.hpp>
#include <tlm/checking/comparison.hpp>

/// Appending rows never changes what was computed for earlier ones: what `extend` computes piece by piece are the rows of
/// the whole, in whatever pieces.
namespace tlm::checking {

/// One way to compute a stack in pieces: for each piece, how many rows it appends to each sequence.
using Pieces = std::vector<std::vector<std::size_t>>;

/// All ways to compute sequences of these lengths in pieces, each of which appends a row to at least one of them. Those
/// in which all is one piece come first.
inline std::vector<Pieces> all_splits(const std::vector<std::size_t>& lengths) {
  std::vector<Pieces> splits;
  // Every first piece, from the greatest to the smallest, and for each every way to go on.
  std::vector<std::size_t> first = lengths;
  for (;;) {
    std::vector<std::size_t> rest = lengths;
    std::size_t taken = 0, left = 0;
    for (std::size_t s = 0; s < lengths.size(); ++s) taken += first[s], left += rest[s] -= first[s];
    if (taken == 0) return splits;
    if (left == 0)
      splits.push_back({first});
    else
      for (Pieces& later : all_splits(rest)) {
        later.insert(later.begin(), first);
        splits.push_back(std::move(later));
      }
    std::size_t s = 0;
    while (first[s] == 0) first[s] = lengths[s], ++s;
    --first[s];
  }
}

/// As in "2 + 1 rows", or for two sequences "(2, 0) + (1, 1) rows".
inline std::string shown(const Pieces& pieces) {
  std::string text;
  for (const auto& piece : pieces) {
    std::string lengths;
    for (const std::size_t length : piece) lengths += (lengths.empty() ? "" : ", ") + std::to_string(length);
    text += (text.empty() ? "" : " + ") + (piece.size() == 1 ? lengths : "(" + lengths + ")");
  }
  return text + " rows";
}

/// Whether T, extended by pieces, computes other rows than T of the whole, for sequences of these lengths and every way to
/// split them.
template <template <class> class Layer, class Real>
std::optional<Failure> extension_fails(std::string_view name, const std::vector<std::size_t>& lengths,
                                       std::uint64_t seed, const Limits& limits = {}) {
  using T = Layer<Real>;
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layer = draw_layer<T>(generator);
    const auto sequences = Sequences::of_lengths(lengths);
    auto X = draw_input<typename T::domain>(sequences, generator, limits);
    constexpr bool of_sets = std::is_same_v<Real, Positions>;
    if constexpr (of_sets && !reads_tokens<T>) X = tagged<typename T::domain>(sequences);
    const auto Y = layer(X);
    for (const Pieces& pieces : all_splits(lengths)) {
      State<T> state{};
      std::vector<std::size_t> begin(lengths.size(), 0);
      for (const auto& piece : pieces) {
        std::vector<Target<typename T::domain>> rows;
        std::vector<typename T::codomain> expected;
        for (std::size_t s = 0; s < lengths.size(); ++s) {
          const auto part = [&](const auto& M) {
            std::remove_cvref_t<decltype(M)> of_s{Sequences::of_lengths({piece[s]})};
            std::copy_n(M.data() + (sequences.begin(s) + begin[s]) * M.cols, piece[s] * M.cols, of_s.data());
            return of_s;
          };
          rows.push_back(part(target(X)));
          expected.push_back(part(Y));
          begin[s] += piece[s];
        }
        const auto found = first_difference({.claim = "extending gives the rows of the whole",
                                             .layer = std::string(name),
                                             .arithmetic = arithmetic<Real>(),
                                             .seed = of_sets ? std::nullopt : std::optional{seed},
                                             .place = "computed in pieces of " + shown(pieces),
                                             .left = {"extending by the piece gives", ""},
                                             .right = {"T of the whole gives", ""}},
                                            extend(layer, state, with_target(X, stack(rows))), stack(expected),
                                            lengths.size() == 1 ? begin[0] - piece[0] : 0);
        if (found) return found;
      }
    }
    return std::nullopt;
  });
}

/// The same for one sequence of n = 1, 2, … rows and for a stack of two, one of 3 rows and one of 2.
template <template <class> class Layer, class Real>
std::optional<Failure> extension_fails(std::string_view name, std::uint64_t seed, const Limits& limits = {}) {
  for (std::size_t n = 1; n <= limits.rows; ++n)
    if (auto found = extension_fails<Layer, Real>(name, std::vector{n}, seed, limits)) {
      found->n = n;
      return found;
    }
  if (limits.rows >= 3) return extension_fails<Layer, Real>(name, std::vector<std::size_t>{3, 2}, seed, limits);
  return std::nullopt;
}

}  // namespace tlm::checking
