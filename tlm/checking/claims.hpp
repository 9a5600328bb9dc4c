// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
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
/// on n. Both are needed. All run through n = 1, 2, … and i = 1, …, n in order, so that the first failure is the
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

/// A layer without its type, over the arithmetics that check a claim.
struct Subject {
  std::string name;
  Maker<float> in_float = nullptr;
  Maker<double> in_double = nullptr;
  Maker<PrimeField> in_field = nullptr;
  Maker<Dependencies> in_sets = nullptr;  ///< Null for a layer that reads tokens: these carry no tags.
};
/// The subject of a layer, with these of its faces.
template <template <class> class Layer, int faces = value_face>
Subject subject(std::string_view name) {
  Subject subject{std::string(name), made<Layer<float>, faces & ~(extension_face | form_face)>,
                  made<Layer<double>, faces & ~form_face>, made<Layer<PrimeField>, faces>};
  if constexpr (!reads_tokens<Layer<double>>) subject.in_sets = made<Layer<Dependencies>, faces & ~form_face>;
  return subject;
}

/// The claim about a cut at row i, which leaves the rows first, …, i.
struct Cut {
  Claim claim;
  std::size_t i;

  std::size_t first() const { return claim == Claim::rowwise ? i - 1 : 0; }
  std::size_t count() const { return i - first(); }
  /// True if row r, from 0, is cut off.
  bool hides(std::size_t r) const { return claim == Claim::rowwise ? r + 1 != i : r >= i; }
  /// X_i or X|i.
  template <class Real>
  Stacked<Real> of(const Stacked<Real>& X) const {
    return X.rows(first(), count());
  }
  /// A counter-example to the claim at n.
  Failure failure(std::string_view layer, const char* arithmetic, std::uint64_t seed, std::size_t n) const {
    const bool single = claim == Claim::rowwise;
    Failure failure = failure_of(single ? "T(X_i) = T(X)_i" : "T(X|i) = T(X)|i",
                                 single ? "T(X_i) gives" : "T(X|i) gives", single ? "T(X)_i gives" : "T(X)|i gives");
    if (claim == Claim::constant)
      failure = failure_of("T(X) does not depend on X", "T(X) gives", "T of another X, of one row, gives");
    failure.layer = layer;
    failure.arithmetic = arithmetic;
    failure.seed = seed;
    failure.n = n;
    if (claim != Claim::constant) failure.i = i;
    return failure;
  }
};

/// A failure without values, for what T throws at n rows.
inline Failure at(std::string_view layer, Claim claim, const char* arithmetic, std::uint64_t seed, std::size_t n) {
  Failure failure = Cut{claim, n}.failure(layer, arithmetic, seed, n);
  failure.i.reset();
  return failure;
}

/// The numbers of rows for which a claim is checked.
inline std::vector<std::size_t> numbers_of_rows(const Limits& limits, Draw kind) {
  std::vector<std::size_t> numbers;
  for (std::size_t n = kind == Draw::any ? 1 : limits.rows; n <= limits.rows; ++n) numbers.push_back(n);
  return numbers;
}

/// `reals` and `field` of a claim about rows: T applied to part of X, X|i or X_i, against that part of T(X).
template <class Real>
std::optional<Failure> compare_parts(const Operation<Real>& T, std::string_view name, Claim claim, std::uint64_t seed,
                                     const Limits& limits) {
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    for (const Draw kind : draws<Real>()) {
      const auto layer = drawn(T, generator, kind);
      const auto of_another =
          claim == Claim::constant ? (*layer)(draw_input(T, Sequences{1}, generator, limits, kind)) : Stacked<Real>{};
      for (const std::size_t n : numbers_of_rows(limits, kind)) {
        const auto X = draw_input(T, Sequences{n}, generator, limits, kind);
        const Failure where = at(name, claim, arithmetic<Real>(), seed, n);
        const auto Y = value_at(*layer, X, where);
        if (claim == Claim::constant) {
          if (auto found = first_difference(where, Y, of_another)) return found;
          continue;
        }
        if (Y.sequences.rows() != n) {
          Failure failure = where;
          failure.claim = "T(X) has as many rows as X";
          failure.left = {"T(X) has", shown(Y.sequences)};
          failure.right = {"X has", shown(Sequences{n})};
          return failure;
        }
        for (std::size_t i = 1; i <= n; ++i) {
          const Cut cut{claim, i};
          const Failure failure = cut.failure(name, arithmetic<Real>(), seed, n);
          const auto part = value_at(*layer, X.with(cut.of(X.target)), failure);
          if (auto found = first_difference(failure, part, cut.of(Y), cut.first())) return found;
        }
      }
    }
    return std::nullopt;
  });
}

/// The ways to spoil a row. In each of them tokens become others.
inline constexpr const char* ways_to_spoil[] = {"other numbers", "NaN", "∞", "−∞", "large numbers", "0"};
/// The number of these ways.
inline constexpr int count_of_ways = 6;
/// The word for it in the sentence of a failure.
inline const char* way_to_spoil(Shape shape, int way) { return shape.of_tokens ? "other tokens" : ways_to_spoil[way]; }

/// Spoils row r in one of these ways.
template <class Real>
void spoil(Stacked<Real>& X, std::size_t r, int way, Generator& generator, const Limits& limits) {
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

/// `bits` of a claim about rows: whatever is done to other rows, a row of T(X) stays the same bit for bit. If T(X) must
/// not depend on X, all rows are others.
template <class Real>
std::optional<Failure> spoil_other_rows(const Operation<Real>& T, std::string_view name, Claim claim,
                                        std::uint64_t seed, const Limits& limits, Draw kind,
                                        const std::vector<std::size_t>& numbers) {
  Generator generator{seed};
  const auto layer = drawn(T, generator, kind);
  for (const std::size_t n : numbers) {
    const auto X = draw_input(T, Sequences{n}, generator, limits, kind);
    const auto Y = value_at(*layer, X, at(name, claim, arithmetic<Real>(), seed, n));
    for (std::size_t i = claim == Claim::constant ? n : 1; i <= n; ++i)
      for (int way = 0; way < count_of_ways; ++way) {
        const Cut cut{claim, i};
        auto other = X;
        for (std::size_t r = 0; r < n; ++r)
          if (cut.hides(r) || claim == Claim::constant) spoil(other.target, r, way, generator, limits);
        Failure failure = cut.failure(name, arithmetic<Real>(), seed, n);
        failure.left.label = std::string("where the other rows are ") + way_to_spoil(T.target, way) + ", T(X) gives";
        failure.right.label = "before, T(X) gave";
        const auto Z = value_at(*layer, other, failure);
        const bool whole = claim == Claim::constant;
        if (auto found =
                first_difference(failure, whole ? Z : cut.of(Z), whole ? Y : cut.of(Y), cut.first(), SameBits{}))
          return found;
      }
  }
  return std::nullopt;
}

/// The failure that row i of T(X), at n rows, depends on more rows than the claim allows.
inline Failure depends_on_more(std::string_view layer, Claim claim, std::size_t n) {
  Failure failure = failure_of(claim == Claim::rowwise          ? "row i depends on no row but i"
                               : claim == Claim::autoregressive ? "row i depends on no row after i"
                                                                : "T(X) does not depend on X",
                               "it depends on the rows", "and may depend on");
  failure.layer = layer;
  failure.arithmetic = arithmetic<Dependencies>();
  failure.n = n;
  return failure;
}

/// `sets` of a claim about rows: row i of T(X) depends on no other rows of X than these. (The sets do not tell whether
/// it really depends on these: x − x keeps its tag.)
inline std::optional<Failure> trace_positions(const Operation<Dependencies>& T, std::string_view name, Claim claim,
                                              const Limits& limits) {
  Generator generator{0};
  const auto layer = drawn(T, generator);
  for (std::size_t n = 1; n <= limits.rows; ++n) {
    const Failure failure = depends_on_more(name, claim, n);
    const auto Y = value_at(*layer, tagged(T, Sequences{n}), failure);
    for (std::size_t i = 1; i <= Y.sequences.rows(); ++i) {
      Dependencies allowed{1};
      for (std::size_t r = 0; r < n && claim != Claim::constant; ++r)
        if (!Cut{claim, i}.hides(r)) allowed += Dependencies::position(r);
      for (std::size_t j = 0; j < Y.cols; ++j)
        if ((Y(i - 1, j).tags() & ~allowed.tags()) != 0) {
          Failure found = with_sets(failure, i - 1, j, Y(i - 1, j), allowed);
          found.i = i;
          return found;
        }
    }
  }
  return std::nullopt;
}

/// `field`: every entry of row i of T(X) depends on each of the rows that the claim allows: on row i, or on 1, …, i.
/// Drawing one of these rows anew changes every entry. (A change is shown. An entry that does not change at two random
/// points might change at others.)
inline std::optional<Failure> a_row_does_not_count(const Operation<PrimeField>& T, std::string_view name, Claim claim,
                                                   std::uint64_t seed, const Limits& limits) {
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layer = drawn(T, generator);
    for (std::size_t n = 1; n <= limits.rows; ++n) {
      const auto X = draw_input(T, Sequences{n}, generator, limits);
      const auto Y = value_at(*layer, X, at(name, claim, arithmetic<PrimeField>(), seed, n));
      for (std::size_t r = 1; r <= n; ++r) {
        auto other = X;
        if (T.target.of_tokens)
          other.target.tokens[r - 1] = (X.target.tokens[r - 1] + 1) % Token(limits.vocab_size);
        else
          for (std::size_t j = 0; j < T.target.cols; ++j) other.target(r - 1, j) = PrimeField::random(generator);
        const auto Z = (*layer)(other);
        for (std::size_t i = r; i <= (claim == Claim::rowwise ? r : n); ++i)
          for (std::size_t j = 0; j < Y.cols; ++j)
            if (same(Z(i - 1, j), Y(i - 1, j))) {
              Failure failure = Cut{claim, i}.failure(name, arithmetic<PrimeField>(), seed, n);
              failure.claim =
                  claim == Claim::rowwise ? "row i depends on row i" : "row i depends on each of the rows 1, …, i";
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

/// `reals` and `field`: T of a stack is the stack of T. A sequence without rows is among them.
template <class Real>
std::optional<Failure> compare_stack(const Operation<Real>& T, std::string_view name, std::uint64_t seed,
                                     const Limits& limits) {
  const auto on = [&](const Sequences& sequences, Generator& generator) -> std::optional<Failure> {
    for (const Draw kind : draws<Real>()) {
      const auto layer = drawn(T, generator, kind);
      const auto X = draw_input(T, sequences, generator, limits, kind);
      const auto Y = (*layer)(X);
      for (std::size_t s = 0; s < sequences.count(); ++s) {
        const auto alone = (*layer)(X.sequence(s));
        if (auto found = first_difference(
                failure_of("T of a stack is the stack of T", "T of the stack gives", "T of the sequence alone gives"),
                s < Y.sequences.count() ? Y.sequence(s) : Y, alone, s < Y.sequences.count() ? Y.sequences.begin(s) : 0))
          return found;
      }
    }
    return std::nullopt;
  };
  return on_stacks(name, arithmetic<Real>(), seed, stacks(limits, {{1, 1}, {2, 1}, {3, 1, 0, 6, 2}}), on);
}

/// `bits`: what is done to one sequence of a stack leaves the others the same bit for bit.
template <class Real>
std::optional<Failure> spoil_other_sequences(const Operation<Real>& T, std::string_view name, std::uint64_t seed,
                                             const Limits& limits) {
  const auto on = [&](const Sequences& sequences, Generator& generator) -> std::optional<Failure> {
    const auto layer = drawn(T, generator);
    const auto X = draw_input(T, sequences, generator, limits);
    const auto Y = (*layer)(X);
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (int way = 0; way < count_of_ways; ++way) {
        auto other = X;
        for (Stacked<Real>* rows : {&other.source, &other.target})
          if (rows->cols > 0)
            for (std::size_t r = rows->sequences.begin(s); r < rows->sequences.end(s); ++r)
              spoil(*rows, r, way, generator, limits);
        const auto Z = (*layer)(other);
        for (std::size_t t = 0; t < sequences.count(); ++t) {
          if (t == s) continue;
          const Failure failure{
              .claim = "sequence " + std::to_string(s + 1) + " does not affect sequence " + std::to_string(t + 1),
              .left = {std::string("where the one is ") + way_to_spoil(T.target, way) + ", T gives for the other", ""},
              .right = {"before, T gave", ""}};
          if (auto found = first_difference(failure, Z.sequence(t), Y.sequence(t), sequences.begin(t), SameBits{}))
            return found;
        }
      }
    return std::nullopt;
  };
  return on_stacks(name, arithmetic<Real>(), seed, stacks(limits, {{1, 1}, {3, 1, 2}}), on);
}

/// `sets`: the rows of a sequence depend on no rows of other sequences, for every input and all weights of that shape.
inline std::optional<Failure> trace_sequences(const Operation<Dependencies>& T, std::string_view name,
                                              const Limits& limits) {
  const auto on = [&](const Sequences& sequences, Generator& generator) -> std::optional<Failure> {
    auto X = tagged(T, sequences);
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (Stacked<Dependencies>* rows : {&X.source, &X.target})
        if (rows->cols > 0)
          for (std::size_t r = rows->sequences.begin(s); r < rows->sequences.end(s); ++r)
            std::fill_n(&(*rows)(r, 0), rows->cols, Dependencies::position(s));
    const auto Y = (*drawn(T, generator))(X);
    for (std::size_t s = 0; s < Y.sequences.count(); ++s)
      for (std::size_t r = Y.sequences.begin(s); r < Y.sequences.end(s); ++r)
        for (std::size_t j = 0; j < Y.cols; ++j)
          if ((Y(r, j).tags() & ~Dependencies::position(s).tags()) != 0)
            return with_sets(
                failure_of("a sequence depends on no other", "it depends on the sequences", "and may depend on"), r, j,
                Y(r, j), Dependencies::position(s));
    return std::nullopt;
  };
  auto found = on_stacks(name, "sets of sequences", 0, stacks(limits, {{1, 1}, {3, 1, 2}}), on);
  if (found) found->seed.reset();
  return found;
}

/// The four ways to check a claim.
enum class Way { reals, bits, field, sets };
/// All of them.
inline constexpr std::array all_ways{Way::reals, Way::bits, Way::field, Way::sets};

/// The counter-example to a claim that this way finds.
inline std::optional<Failure> refuted(const Subject& subject, Claim claim, Way way, const Limits& limits) {
  const std::string& name = subject.name;
  const bool of_stacks = claim == Claim::of_each_sequence;
  const auto compare = [&](const auto& T, std::uint64_t seed) {
    return of_stacks ? compare_stack(T, name, seed, limits) : compare_parts(T, name, claim, seed, limits);
  };
  const auto spoil = [&](const auto& T, std::uint64_t seed) {
    if (of_stacks) return spoil_other_sequences(T, name, seed, limits);
    std::optional<Failure> found;
    for (const Draw kind : {Draw::any, Draw::special})
      if (!found) found = spoil_other_rows(T, name, claim, seed, limits, kind, numbers_of_rows(limits, kind));
    return found;
  };
  std::optional<Failure> found;
  switch (way) {
    case Way::reals:
      return compare(*subject.in_double(), 1);
    case Way::bits:
      found = spoil(*subject.in_float(), 2);
      return found ? found : spoil(*subject.in_double(), 3);
    case Way::field:
      for (const std::uint64_t key : {11u, 12u}) {
        PrimeField::key = key;
        if (!found) found = compare(*subject.in_field(), key);
      }
      return found;
    default:
      if (!subject.in_sets) return std::nullopt;
      return of_stacks ? trace_sequences(*subject.in_sets(), name, limits)
                       : trace_positions(*subject.in_sets(), name, claim, limits);
  }
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

/// The claim about T over all four arithmetics, each with seeds and keys of its own.
inline Verdict verdict(const Subject& subject, Claim claim, const Limits& limits = {}) {
  const auto by = [&](Way way) { return refuted(subject, claim, way, limits); };
  return {by(Way::reals), by(Way::bits), by(Way::field), by(Way::sets)};
}

// --- The same of a layer that is given by its type ----------------------------------------------------------------------

/// The verdict on a claim about a layer, as far as runs over the four arithmetics can tell.
template <template <class> class Layer>
Verdict verdict(std::string_view name, Claim claim, const Limits& limits = {}) {
  return verdict(subject<Layer>(name), claim, limits);
}
/// T is autoregressive.
template <template <class> class Layer>
Verdict autoregressive_verdict(std::string_view name, const Limits& limits = {}) {
  return verdict<Layer>(name, Claim::autoregressive, limits);
}
/// T is rowwise.
template <template <class> class Layer>
Verdict rowwise_verdict(std::string_view name, const Limits& limits = {}) {
  return verdict<Layer>(name, Claim::rowwise, limits);
}
/// T(X) does not depend on X: neither on its numbers nor on its number of rows.
template <template <class> class Layer>
Verdict constant_verdict(std::string_view name, const Limits& limits = {}) {
  return verdict<Layer>(name, Claim::constant, limits);
}
/// The sequences of a batch do not affect each other.
template <template <class> class Layer>
Verdict sequences_verdict(std::string_view name, const Limits& limits = {}) {
  return verdict<Layer>(name, Claim::of_each_sequence, limits);
}

/// See above.
template <template <class> class Layer, class Real>
std::optional<Failure> compare_parts(std::string_view name, Claim claim, std::uint64_t seed,
                                     const Limits& limits = {}) {
  return compare_parts<Real>(OperationOf<Layer<Real>, value_face>{}, name, claim, seed, limits);
}
/// See above; for these n.
template <template <class> class Layer, class Real>
std::optional<Failure> spoil_other_rows(std::string_view name, Claim claim, std::uint64_t seed, const Limits& limits,
                                        const std::vector<std::size_t>& numbers) {
  return spoil_other_rows<Real>(OperationOf<Layer<Real>, value_face>{}, name, claim, seed, limits, Draw::any, numbers);
}
/// See above.
template <template <class> class Layer>
std::optional<Failure> a_row_does_not_count(std::string_view name, Claim claim, std::uint64_t seed = 13,
                                            const Limits& limits = {}) {
  return a_row_does_not_count(OperationOf<Layer<PrimeField>, value_face>{}, name, claim, seed, limits);
}
/// See above.
template <template <class> class Layer>
std::optional<Failure> trace_positions(std::string_view name, Claim claim, const Limits& limits = {}) {
  return trace_positions(OperationOf<Layer<Dependencies>, value_face>{}, name, claim, limits);
}

}  // namespace tlm::checking
