// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tlm/checking/comparison.hpp>

/// The checks of "T is rowwise", "T is autoregressive", "T does not depend on X" and "the sequences of a stack do not affect
/// each other", by running T over four arithmetics.
///
///   reals  double: T(X|i) and T(X)|i agree within a bound;
///   bits   float and double: at one n, whatever is done to the rows after i, NaN and ±∞ included, leaves the first i
///          rows of T(X) the same bit for bit;
///   field  the prime field: T(X|i) = T(X)|i exactly, for two keys of the uninterpreted functions;
///   sets   sets of positions: row i of T(X) depends on no other rows of X than 1, …, i; or, for a rowwise T, than i.
///          One run covers every input and all weights of that shape.
///
/// `bits` and `sets` see that the future does not reach the past at one n. `reals` and `field` see that nothing depends
/// on n. Both are needed. All run through n = 1, 2, … and i = 1, 2, … in order, so that the first failure is the
/// smallest. If there are a source and a target, the target is cut and spoilt. In floating point all is repeated at the
/// largest n with zeros, rows of zeros and equal rows among the numbers.
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

/// The failure of a claim about T on such an X, without the values that differ.
template <class Real>
Failure failure_of(const Operation<Real>& T, Claim claim, std::uint64_t seed, const Sequences& sequences) {
  Failure failure =
      claim == Claim::rowwise          ? failure_of("T(X_i) = T(X)_i", "T(X_i) gives", "T(X)_i gives")
      : claim == Claim::autoregressive ? failure_of("T(X|i) = T(X)|i", "T(X|i) gives", "T(X)|i gives")
      : claim == Claim::constant
          ? failure_of("T(X) does not depend on X", "T of another X, of one row, gives", "T(X) gives")
          : failure_of("T of a stack is the stack of T", "T of the sequence alone gives", "T of the stack gives");
  failure.layer = T.name;
  failure.arithmetic = arithmetic<Real>();
  if (!std::is_same_v<Real, Dependencies>) failure.seed = seed;
  if (claim == Claim::of_each_sequence)
    failure.place = within(sequences);
  else
    failure.n = sequences.rows();
  return failure;
}

/// A layer, X, T(X) and where they are cut; the failure there, without values; and what may be drawn.
template <class Real>
struct AtCut {
  const Operation<Real>& layer;
  const Input<Real>& X;
  const Stacked<Real>& Y;
  Cut cut;
  Failure failure;
  Generator& generator;
  const Limits& limits;
};

/// The failure that `check` finds at a cut of some X, with the smallest first.
template <class Real>
std::optional<Failure> at_cuts(const Operation<Real>& T, Claim claim, std::uint64_t seed, const Limits& limits,
                               const std::function<std::optional<Failure>(const AtCut<Real>&)>& check) {
  std::vector<Sequences> all = stacks(limits, {{1, 1}, {3, 1, 0, 6, 3}});
  if (claim != Claim::of_each_sequence) {
    all.clear();
    for (std::size_t n = 1; n <= limits.rows; ++n) all.push_back(Sequences{n});
  }
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    for (const Draw kind : draws<Real>()) {
      const auto layer = drawn(T, generator, kind);
      for (const Sequences& sequences : all) {
        if (kind == Draw::special && &sequences != &all.back()) continue;
        const auto X = draw_input(T, sequences, generator, limits, kind);
        Failure failure = failure_of(T, claim, seed, sequences);
        const auto Y = value_at(*layer, X, failure);
        if (claim != Claim::constant && !(Y.sequences == sequences)) {
          failure.claim = "T(X) has as many rows as X";
          failure.left = {"T(X) has", shown(Y.sequences)};
          failure.right = {"X has", shown(sequences)};
          return failure;
        }
        for (const Cut& cut : cuts(claim, sequences)) {
          if (claim == Claim::rowwise || claim == Claim::autoregressive) failure.i = cut.number;
          if (auto found = check({*layer, X, Y, cut, failure, generator, limits})) return found;
        }
      }
    }
    return std::nullopt;
  });
}

/// `reals` and `field`: T applied to a part of X gives that part of T(X).
template <class Real>
std::optional<Failure> compare_parts(const Operation<Real>& T, Claim claim, std::uint64_t seed,
                                     const Limits& limits = {}) {
  return at_cuts<Real>(T, claim, seed, limits, [&](const AtCut<Real>& at) {
    const auto part = claim == Claim::constant ? draw_input(T, Sequences{1}, at.generator, limits) : at.cut.of(at.X);
    return first_difference(at.failure, value_at(at.layer, part, at.failure), at.cut.of(at.Y), at.cut.first);
  });
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
std::optional<Failure> spoil_the_rest(const AtCut<Real>& at) {
  const Sequences& sources = at.X.source.sequences;
  for (std::size_t way = 0; way < std::size(ways_to_spoil); ++way) {
    auto other = at.X;
    for (std::size_t r = 0; r < at.X.target.sequences.rows(); ++r)
      if (at.cut.hides(r)) spoil(other.target, r, way, at.generator, at.limits);
    if (at.cut.claim == Claim::of_each_sequence && at.X.source.cols > 0)
      for (std::size_t r = 0; r < sources.rows(); ++r)
        if (r < sources.begin(at.cut.number - 1) || r >= sources.end(at.cut.number - 1))
          spoil(other.source, r, way, at.generator, at.limits);
    Failure failure = at.failure;
    failure.left.label = std::string("where the other rows are ") +
                         (at.layer.target.of_tokens ? "other tokens" : ways_to_spoil[way]) + ", T(X) gives";
    failure.right.label = "before, T(X) gave";
    const auto Z = value_at(at.layer, other, failure);
    if (auto found = first_difference(failure, at.cut.of(Z), at.cut.of(at.Y), at.cut.first, SameBits{})) return found;
  }
  return std::nullopt;
}
/// `bits` at all cuts.
template <class Real>
std::optional<Failure> spoil_other_rows(const Operation<Real>& T, Claim claim, std::uint64_t seed,
                                        const Limits& limits = {}) {
  return at_cuts<Real>(T, claim, seed, limits, spoil_the_rest<Real>);
}

/// `sets`: a part of T(X) depends on no other rows of X than that part of X. (The sets do not tell whether it really
/// depends on these: x − x keeps its tag.)
inline std::optional<Failure> trace_positions(const Operation<Dependencies>& T, Claim claim,
                                              const Limits& limits = {}) {
  return at_cuts<Dependencies>(T, claim, 0, limits, [claim](const AtCut<Dependencies>& at) {
    Dependencies allowed{1};
    for (std::size_t r = 0; r < at.X.target.sequences.rows(); ++r)
      if (!at.cut.hides(r)) allowed += Dependencies::position(r);
    auto most = at.cut.of(at.Y);
    std::fill(most.numbers.begin(), most.numbers.end(), allowed);
    Failure failure = at.failure;
    failure.claim = claim == Claim::rowwise            ? "row i depends on no row but i"
                    : claim == Claim::autoregressive   ? "row i depends on no row after i"
                    : claim == Claim::of_each_sequence ? "a sequence depends on no other"
                                                       : "T(X) does not depend on X";
    failure.left.label = "it depends on the rows";
    failure.right.label = "and may depend on";
    return first_difference(failure, at.cut.of(at.Y), most, at.cut.first, IsWithin{});
  });
}

/// `field`: every entry of row i of T(X) depends on each of the rows that the claim allows: on row i, or on 1, …, i. If
/// there is a source, it depends on all of its rows. Drawing one of these rows anew changes every entry. (A change is
/// shown. An entry that does not change at two random points might change at others.)
inline std::optional<Failure> a_row_does_not_count(const Operation<PrimeField>& T, Claim claim, std::uint64_t seed = 13,
                                                   const Limits& limits = {}) {
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layer = drawn(T, generator);
    for (std::size_t n = 1; n <= limits.rows; ++n) {
      auto X = draw_input(T, Sequences{n}, generator, limits);
      Failure failure = failure_of(T, claim, seed, Sequences{n});
      const auto Y = value_at(*layer, X, failure);
      for (auto* rows : {&X.target, &X.source})
        for (std::size_t r = 1; r <= rows->sequences.rows(); ++r) {
          const auto before = *rows;
          if (!rows->tokens.empty())
            rows->tokens[r - 1] = (before.tokens[r - 1] + 1) % Token(limits.vocab_size);
          else
            std::generate_n(&(*rows)(r - 1, 0), rows->cols, [&] { return PrimeField::random(generator); });
          const auto Z = (*layer)(X);
          *rows = before;
          const bool of_source = rows == &X.source;
          for (std::size_t i = of_source ? 1 : r; i <= (claim == Claim::rowwise && !of_source ? r : n); ++i)
            for (std::size_t j = 0; j < Y.cols; ++j) {
              if (!same(Z(i - 1, j), Y(i - 1, j))) continue;
              failure.claim = of_source                 ? "row i depends on each row of the source"
                              : claim == Claim::rowwise ? "row i depends on row i"
                                                        : "row i depends on each of the rows 1, …, i";
              failure.i = i;
              failure.entry = entry(i, j + 1);
              failure.left = {"before and after another row " + std::to_string(r) + " it is", shown(Y(i - 1, j))};
              failure.right = {};
              return failure;
            }
        }
    }
    return std::nullopt;
  });
}

/// A layer without its type, over the arithmetics that check a claim. A layer that reads tokens is not run over sets of
/// positions, because tokens carry no tags.
struct Subject {
  std::unique_ptr<const Operation<float>> in_float{};
  std::unique_ptr<const Operation<double>> in_double{};
  std::unique_ptr<const Operation<PrimeField>> in_field{};
  std::unique_ptr<const Operation<Dependencies>> in_sets{};
};
/// The subject of a layer, with these of its faces.
template <template <class> class Layer, int faces = value_face>
Subject subject(std::string_view name) {
  Subject subject{operation<Layer<float>, faces & ~(extension_face | form_face)>(name),
                  operation<Layer<double>, faces & ~form_face>(name), operation<Layer<PrimeField>, faces>(name)};
  if constexpr (!reads_tokens<Layer<double>>)
    subject.in_sets = operation<Layer<Dependencies>, faces & ~form_face>(name);
  return subject;
}

/// The four ways to check a claim.
enum class Way { reals, bits, field, sets };
/// All of them.
inline constexpr std::array all_ways{Way::reals, Way::bits, Way::field, Way::sets};

/// The counter-example to a claim that this way finds.
inline std::optional<Failure> refuted(const Subject& subject, Claim claim, Way way, const Limits& limits) {
  std::optional<Failure> found;
  if (way == Way::reals && subject.in_double) found = compare_parts(*subject.in_double, claim, 1, limits);
  if (way == Way::bits && subject.in_float) found = spoil_other_rows(*subject.in_float, claim, 2, limits);
  if (way == Way::bits && subject.in_double && !found) found = spoil_other_rows(*subject.in_double, claim, 3, limits);
  for (const std::uint64_t key : {11u, 12u})
    if (way == Way::field && subject.in_field && !found) {
      PrimeField::key = key;
      found = compare_parts(*subject.in_field, claim, key, limits);
    }
  if (way == Way::sets && subject.in_sets) found = trace_positions(*subject.in_sets, claim, limits);
  return found;
}

/// The result of each way to check a claim.
struct Verdict {
  std::optional<Failure> reals{}, bits{}, field{}, sets{};

  bool holds() const { return !failure(); }
  /// The first failure, if there is one.
  std::optional<Failure> failure() const {
    for (const auto* found : {&reals, &bits, &field, &sets})
      if (*found) return *found;
    return std::nullopt;
  }

  friend std::ostream& operator<<(std::ostream& out, const Verdict& verdict) {
    for (const auto* failure : {&verdict.reals, &verdict.bits, &verdict.field, &verdict.sets})
      if (*failure) out << **failure;
    return out;
  }
};

/// The claim over all arithmetics of the subject, each with seeds and keys of its own.
inline Verdict verdict_on(const Subject& subject, Claim claim, const Limits& limits = {}) {
  const auto by = [&](Way way) { return refuted(subject, claim, way, limits); };
  return {by(Way::reals), by(Way::bits), by(Way::field), by(Way::sets)};
}
/// The verdict on a claim about a layer, as far as runs over the four arithmetics can tell.
template <template <class> class Layer>
Verdict verdict_on(std::string_view name, Claim claim, const Limits& limits = {}) {
  return verdict_on(subject<Layer>(name), claim, limits);
}

}  // namespace tlm::checking
