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

#include <tlm/algebra/extension.hpp>
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

/// The next rows of a stack: piece[s] of each sequence s, behind the taken[s] that were taken before.
template <class M>
M piece_of(const M& whole, const std::vector<std::size_t>& taken, const std::vector<std::size_t>& piece) {
  M rows{Sequences::of_lengths(piece)};
  for (std::size_t s = 0; s < piece.size(); ++s)
    std::copy_n(whole.data() + (whole.sequences().begin(s) + taken[s]) * M::cols, piece[s] * M::cols,
                rows.data() + rows.sequences().begin(s) * M::cols);
  return rows;
}

/// Whether T, extended by pieces, computes other rows than T of the whole, for sequences of these lengths and every way to
/// split them.
template <template <class> class Layer, class Real>
std::optional<Failure> extension_fails(std::string_view name, const std::vector<std::size_t>& lengths,
                                       std::uint64_t seed, const Limits& limits = {}) {
  using T = Layer<Real>;
  constexpr bool of_sets = std::is_same_v<Real, Positions>;
  auto found = redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layer = draw_layer<T>(generator);
    const auto sequences = Sequences::of_lengths(lengths);
    auto X = draw_input<typename T::domain>(sequences, generator, limits);
    if constexpr (of_sets && !reads_tokens<T>) X = tagged<typename T::domain>(sequences);
    const auto Y = layer(X);
    for (const Pieces& pieces : all_splits(lengths)) {
      State<T> state{};
      std::vector<std::size_t> taken(lengths.size(), 0);
      for (const auto& piece : pieces) {
        auto differs = first_difference(
            failure_of("extending gives the rows of the whole", "extending by the piece gives", "T of the whole gives"),
            extend(layer, state, with_target(X, piece_of(target(X), taken, piece))), piece_of(Y, taken, piece),
            lengths.size() == 1 ? taken[0] : 0);
        if (differs) {
          differs->place = "computed in pieces of " + shown(pieces);
          return differs;
        }
        for (std::size_t s = 0; s < lengths.size(); ++s) taken[s] += piece[s];
      }
    }
    return std::nullopt;
  });
  return seen_of(name, arithmetic<Real>(), of_sets ? std::nullopt : std::optional{seed}, std::move(found));
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
