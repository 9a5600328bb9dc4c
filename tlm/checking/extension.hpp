// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tlm/checking/trials.hpp>

/// Appending rows never changes what was computed for earlier ones. For any pieces, `advance` computes the rows of the
/// whole piece by piece. A copy of a state is a state of its own.
namespace tlm::checking {

/// One way to compute a stack in pieces: for each piece, how many rows it appends to each sequence.
using Pieces = std::vector<std::vector<std::size_t>>;

/// All ways to compute sequences of these lengths in pieces. Each piece appends a row to at least one of them. The way
/// with one piece comes first. If there are no rows, the only way has no pieces.
inline std::vector<Pieces> all_splits(const std::vector<std::size_t>& lengths) {
  if (lengths == std::vector<std::size_t>(lengths.size())) return {Pieces{}};
  std::vector<Pieces> splits;
  // Every first piece, from the longest to the shortest, and for each every way to go on.
  for (std::vector<std::size_t> first = lengths;;) {
    std::vector<std::size_t> rest = lengths;
    for (std::size_t s = 0; s < lengths.size(); ++s) rest[s] -= first[s];
    if (rest == lengths) return splits;
    for (Pieces& later : all_splits(rest)) {
      later.insert(later.begin(), first);
      splits.push_back(std::move(later));
    }
    std::size_t s = 0;
    while (first[s] == 0) first[s] = lengths[s], ++s;
    --first[s];
  }
}

/// Up to this number of rows all 2^(n−1) ways to split are tried.
inline constexpr std::size_t split_in_all_ways = 6;
/// The ways to split more rows than these, in one sequence: row by row, and in two pieces.
inline std::vector<Pieces> some_splits(std::size_t rows) {
  std::vector<Pieces> splits{Pieces(rows, {1})};
  for (std::size_t first = 1; first < rows; ++first) splits.push_back({{first}, {rows - first}});
  return splits;
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

/// The next rows of a stack: piece[s] of each sequence s, after the taken[s] that were taken before.
template <class Real>
Stacked<Real> piece_of(const Stacked<Real>& whole, const std::vector<std::size_t>& taken,
                       const std::vector<std::size_t>& piece) {
  std::vector<std::size_t> which;
  for (std::size_t s = 0; s < piece.size(); ++s)
    for (std::size_t r = 0; r < piece[s]; ++r) which.push_back(whole.sequences.begin(s) + taken[s] + r);
  return whole.rows(Sequences::of_lengths(piece), which);
}

/// The failure if T, extended by these pieces of X, computes other rows than T of the whole, which are Y. Before each of
/// two pieces, the state is extended by nothing and copied. After the piece, a copy of the copy is extended by the piece,
/// which must give the same rows; then the copy by other rows, which must not matter.
template <class Real>
std::optional<Failure> pieces_differ(const Trial<Real>& at, const Stacked<Real>& Y, const Pieces& pieces) {
  const auto& X = at.X;
  Failure failure = at.failure;
  failure.place += ", computed in pieces of " + shown(pieces);
  auto state = at.layer->at_the_beginning();
  std::vector<std::size_t> taken(at.sequences().count(), 0);
  for (const auto& piece : pieces) {
    const std::size_t before = taken.size() == 1 ? taken[0] : 0;
    const auto next = X.with(piece_of(X.target, taken, piece));
    const auto expected = piece_of(Y, taken, piece);
    Continued<Real> copy;
    if (pieces.size() == 2) {
      state(X.with(piece_of(X.target, taken, std::vector<std::size_t>(piece.size(), 0))));
      copy = state;
    }
    if (auto found = first_difference(failure, state(next), expected, before)) return found;
    if (auto copy_of_copy = copy) {
      Failure of_copy = failure;
      of_copy.left.label = "extending a copy of the state gives";
      if (auto found = first_difference(of_copy, copy_of_copy(next), expected, before)) return found;
      const auto other = draw_input(*at.layer, at.sequences(), at.generator, at.limits);
      copy(X.with(piece_of(other.target, taken, piece)));
    }
    for (std::size_t s = 0; s < taken.size(); ++s) taken[s] += piece[s];
  }
  return std::nullopt;
}

/// The failure if T, extended by pieces, computes other rows than T of the whole, for every way to split one sequence of
/// n = 1, 2, … rows, and a stack of 3 and 2 rows.
template <class Real>
std::optional<Failure> extension_fails(const Operation<Real>& T, std::uint64_t seed, const Limits& limits = {}) {
  auto stacks = single_sequences(limits);
  if (limits.rows >= 3) stacks.push_back(Sequences::of_lengths({3, 2}));
  const auto on = [](const Trial<Real>& at) -> std::optional<Failure> {
    if (at.kind == Draw::special) return std::nullopt;
    const auto Y = (*at.layer)(at.X);
    if (auto found = rows_differ(at, Y)) return found;
    std::vector<std::size_t> lengths;
    for (std::size_t s = 0; s < at.sequences().count(); ++s) lengths.push_back(at.sequences().length(s));
    const bool few = lengths.size() == 1 && lengths[0] > split_in_all_ways;
    for (const Pieces& pieces : few ? some_splits(lengths[0]) : all_splits(lengths))
      if (auto found = pieces_differ(at, Y, pieces)) return found;
    return std::nullopt;
  };
  return on_stacks<Real>(
      T, failure_of("extending gives the rows of the whole", "extending by the piece gives", "T of the whole gives"),
      seed, stacks, limits, on);
}

}  // namespace tlm::checking
