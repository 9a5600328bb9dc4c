// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <tlm/checking/trials.hpp>

/// The checks of "T is rowwise", "T is autoregressive", "T does not depend on X" and "the sequences of a stack do not affect
/// each other", by running T over four arithmetics.
///
///   reals  double: T(X|i) and T(X)|i agree within a bound;
///   bits   float and double: at one n, whatever is done to the rows after i, NaN and ±∞ included, leaves the first i
///          rows of T(X) the same bit for bit;
///   field  the prime field: T(X|i) = T(X)|i exactly, for two keys of the uninterpreted functions;
///   sets   sets of positions: row i of T(X) depends on no other rows of X than 1, …, i; or, for a rowwise T, than i.
///          One run covers all inputs and weights of that shape at which no number overflows.
///
/// `bits` and `sets` see that the future does not reach the past at one n. `reals` and `field` see that nothing depends
/// on n. Both are needed. They run through n = 1, 2, … and i = 1, 2, … in order, so that the first failure is the
/// smallest. If there are a source and a target, the target is cut and spoilt. In floating point all is repeated with
/// zeros, rows of zeros and equal rows among the numbers.
///
/// What a pass of `field` shows: both sides are rational functions of the entries and of the values of the
/// uninterpreted functions. Let these be different functions, and model the hashes as random functions. Then the
/// difference vanishes at a random point with probability at most H²·D/p, for H hash calls and degree D (Schwartz and
/// Zippel, and a collision of two hash arguments). For the layers of the library H < 10⁴ and p ≈ 2·10¹⁸. The degree is
/// D < 10³: what is hashed is a variable of degree 1 again. Each of at most two blocks multiplies the degree of a row
/// by that of the common denominator of n ≤ 6 rows, less than 10. So the probability is less than 10⁻⁷ for each run.
///
/// The converse does not hold. Softmax with the maximum of the full row subtracted is right over ℝ, where exp(a−m) =
/// exp(a)/exp(m). It fails here, where exp obeys no law.
namespace tlm::checking {

/// The claims about T: T(X_i) = T(X)_i; T(X|i) = T(X)|i; T(X) does not depend on X; each sequence of a stack has the
/// value that it has alone.
enum class Claim { rowwise, autoregressive, constant, of_each_sequence };

/// A part of X and of T(X): rows first, …, first + count − 1 of both. The claim is that this part of T(X) depends on
/// this part of X alone. If T(X) must not depend on X, the part is all of T(X), and nothing of X.
struct Cut {
  Claim claim;
  std::size_t number;  ///< i, or that of the sequence; from 1.
  std::size_t first, count;

  /// True if row r of X, from 0, is not in it.
  bool hides(std::size_t r) const { return claim == Claim::constant || r < first || r >= first + count; }
  /// The part of T(X).
  template <class Real>
  Stacked<Real> of(const Stacked<Real>& Y) const {
    return claim == Claim::constant ? Y : Y.rows(first, count);
  }
  /// The part of X, with the source that belongs to it.
  template <class Real>
  Input<Real> of(const Input<Real>& X) const {
    return claim == Claim::of_each_sequence ? X.sequence(number - 1) : X.with(of(X.target));
  }
};
/// Where X is cut. (X|n is X, so this cut shows nothing.)
inline std::vector<Cut> cuts(Claim claim, const Sequences& sequences) {
  const std::size_t rows = sequences.rows();
  std::vector<Cut> all;
  if (claim == Claim::constant) all.push_back({claim, 0, 0, rows});
  if (claim == Claim::rowwise)
    for (std::size_t i = 1; i <= rows; ++i) all.push_back({claim, i, i - 1, 1});
  if (claim == Claim::autoregressive)
    for (std::size_t i = 1; i < rows; ++i) all.push_back({claim, i, 0, i});
  if (claim == Claim::of_each_sequence)
    for (std::size_t s = 0; s < sequences.count(); ++s)
      all.push_back({claim, s + 1, sequences.begin(s), sequences.length(s)});
  return all;
}

/// The stacks on which a claim is checked.
inline std::vector<Sequences> stacks_of(Claim claim, const Limits& limits) {
  return claim == Claim::of_each_sequence ? stacks(limits, {{1, 1}, {3, 1, 0, 6, 3}}) : single_sequences(limits);
}

/// The failure of a claim, without the values that differ.
inline Failure failure_of(Claim claim) {
  Failure failure =
      claim == Claim::rowwise          ? failure_of("T(X_i) = T(X)_i", "T(X_i) gives", "T(X)_i gives")
      : claim == Claim::autoregressive ? failure_of("T(X|i) = T(X)|i", "T(X|i) gives", "T(X)|i gives")
      : claim == Claim::constant
          ? failure_of("T(X) does not depend on X", "T of another X, of one row, gives", "T(X) gives")
          : failure_of("T of a stack is the stack of T", "T of the sequence alone gives", "T of the stack gives");
  if (claim != Claim::of_each_sequence) failure.n = 0;
  return failure;
}

/// The failure that check(at, T(X), cut) finds at a cut of some X, with the smallest first.
template <class Real>
std::optional<Failure> at_cuts(const Operation<Real>& T, Claim claim, std::uint64_t seed,
                               const std::vector<Sequences>& stacks, const Limits& limits, const auto& check) {
  const auto on = [&](const Trial<Real>& at) -> std::optional<Failure> {
    const auto Y = (*at.layer)(at.X);
    if (claim != Claim::constant)
      if (auto found = rows_differ(at, Y)) return found;
    for (const Cut& cut : cuts(claim, at.sequences())) {
      if (claim == Claim::rowwise || claim == Claim::autoregressive) at.failure.i = cut.number;
      if (auto found = check(at, Y, cut)) return found;
    }
    return std::nullopt;
  };
  return on_stacks<Real>(T, failure_of(claim), seed, stacks, limits, on);
}

/// `reals` and `field` at one cut: T applied to a part of X gives that part of T(X).
template <class Real>
std::optional<Failure> compare_part(const Trial<Real>& at, const Stacked<Real>& Y, const Cut& cut) {
  const auto part = cut.claim == Claim::constant
                        ? at.X.with(draw_input(*at.layer, Sequences{1}, at.generator, at.limits).target)
                        : cut.of(at.X);
  return first_difference(at.failure, (*at.layer)(part), cut.of(Y), cut.first);
}
/// `reals` and `field` at all cuts.
template <class Real>
std::optional<Failure> compare_parts(const Operation<Real>& T, Claim claim, std::uint64_t seed,
                                     const Limits& limits = {}) {
  return at_cuts<Real>(T, claim, seed, stacks_of(claim, limits), limits, compare_part<Real>);
}

/// The ways to spoil a row. In each of them tokens become others.
inline constexpr const char* ways_to_spoil[] = {"other numbers", "NaN", "∞", "−∞", "large numbers", "0"};
/// Spoils row r in one of these ways.
template <class Real>
void spoil(Stacked<Real>& X, std::size_t r, std::size_t way, Generator& generator, const Limits& limits) {
  if (!X.tokens.empty()) {
    X.tokens[r] = draw<Token>(generator, limits);
    return;
  }
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  for (std::size_t j = 0; j < X.cols; ++j) {
    const Real other = draw<Real>(generator);
    const Real values[] = {other, std::numeric_limits<Real>::quiet_NaN(), infinity, -infinity, Real(1e4) * other, 0};
    X(r, j) = values[way];
  }
}

/// `bits` at one cut: whatever is done to the other rows, this part of T(X) stays the same bit for bit.
template <class Real>
std::optional<Failure> spoil_the_rest(const Trial<Real>& at, const Stacked<Real>& Y, const Cut& cut) {
  const Sequences& sources = at.X.source.sequences;
  for (std::size_t way = 0; way < std::size(ways_to_spoil); ++way) {
    auto other = at.X;
    for (std::size_t r = 0; r < at.sequences().rows(); ++r)
      if (cut.hides(r)) spoil(other.target, r, way, at.generator, at.limits);
    if (cut.claim == Claim::of_each_sequence && at.X.source.cols > 0)
      for (std::size_t r = 0; r < sources.rows(); ++r)
        if (r < sources.begin(cut.number - 1) || r >= sources.end(cut.number - 1))
          spoil(other.source, r, way, at.generator, at.limits);
    Failure failure = at.failure;
    failure.left.label = std::string("where the other rows are ") +
                         (at.layer->target.of_tokens ? "other tokens" : ways_to_spoil[way]) + ", T(X) gives";
    failure.right.label = "before, T(X) gave";
    const auto Z = (*at.layer)(other);
    if (cut.claim != Claim::constant)
      if (auto found = rows_differ(at, Z)) return found;
    if (auto found = first_difference(failure, cut.of(Z), cut.of(Y), cut.first, SameBits{})) return found;
  }
  return std::nullopt;
}
/// `bits` at all cuts.
template <class Real>
std::optional<Failure> spoil_other_rows(const Operation<Real>& T, Claim claim, std::uint64_t seed,
                                        const Limits& limits = {}) {
  return at_cuts<Real>(T, claim, seed, stacks_of(claim, limits), limits, spoil_the_rest<Real>);
}

/// `sets`: a part of T(X) depends on no other rows of X than that part of X. (The sets do not tell whether it really
/// depends on these: x − x keeps its tag.)
inline std::optional<Failure> trace_positions(const Operation<Dependencies>& T, Claim claim,
                                              const Limits& limits = {}) {
  const auto traced = [claim](const Trial<Dependencies>& at, const Stacked<Dependencies>& Y, const Cut& cut) {
    Dependencies allowed{1};
    for (std::size_t r = 0; r < at.sequences().rows(); ++r)
      if (!cut.hides(r)) allowed += Dependencies::position(r);
    const bool of_sources = claim == Claim::of_each_sequence && at.X.source.cols > 0;
    if (of_sources) allowed += Dependencies::codomain_position(cut.number - 1);
    Failure failure = at.failure;
    failure.claim = claim == Claim::rowwise            ? "row i depends on no row but i"
                    : claim == Claim::autoregressive   ? "row i depends on no row after i"
                    : claim == Claim::of_each_sequence ? "a sequence depends on no other"
                                                       : "T(X) does not depend on X";
    failure.left.label =
        of_sources ? "it depends on the rows | on the sources of the sequences" : "it depends on the rows";
    return depends_on_more(failure, cut.of(Y), allowed, cut.first);
  };
  return at_cuts<Dependencies>(T, claim, 0, stacks_of(claim, limits), limits, traced);
}

}  // namespace tlm::checking
