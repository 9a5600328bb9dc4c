#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "inputs.hpp"

/// The checks of "T is rowwise" and "T is autoregressive", by running T over four arithmetics.
///
///   (a) double: T(X|i) and T(X)|i agree within a bound;
///   (b) float and double: at one n, whatever is done to the rows behind i, NaN and ±∞ included, leaves the first i rows
///       of T(X) the same bit for bit;
///   (c) the prime field: T(X|i) = T(X)|i exactly, for two keys of the uninterpreted functions;
///   (d) sets of positions: row i of T(X) depends on no other rows of X than 1, …, i; or, for a rowwise T, than i. One
///       run covers every input and all weights of that shape. (Attention depends on all of them: claims 3 and 5.)
///
/// (b) and (d) see that the future does not reach the past at one n, (a) and (c) that nothing depends on n: both are
/// needed. All run through n = 1, …, 6 and i = 1, …, n in order, so that the first failure is the smallest.
///
/// What a pass of (c) proves: both sides are rational functions of the entries and of the values of the uninterpreted
/// functions. If they were different functions, then with the hashes modelled as random functions the difference would
/// vanish at a random point with probability at most H²·D/p for H hash calls and degree D (Schwartz and Zippel, and a
/// collision of two hash arguments). Here H < 10⁴ and p ≈ 2·10¹⁸; and D < 10³, as what is hashed is a variable of degree
/// 1 again and each of at most two blocks multiplies the degree of a row by the common denominator of n ≤ 6 rows, by less
/// than 10. So it is less than 10⁻⁷ for each run. The converse fails: softmax with the maximum of the full row subtracted
/// is right over ℝ, where exp(a−m) = exp(a)/exp(m), and red here, where exp obeys no law.
namespace tlm::proofs {

inline constexpr std::size_t greatest_n = 6;

/// A claim that fell, with the smallest counter-example.
struct Failure {
  std::string claim, layer, arithmetic;
  std::uint64_t seed;
  std::size_t n, i;                      ///< The number of rows, and the row at which they are cut; from 1.
  std::string entry{}, left{}, right{};  ///< The offending entry, and its two values.

  friend std::ostream& operator<<(std::ostream& out, const Failure& failure) {
    return out << "\n  " << failure.claim << " — falls for " << failure.layer << "\n  seen over " << failure.arithmetic
               << " at n = " << failure.n << ", i = " << failure.i << ", in " << failure.entry << ":\n    "
               << failure.left << "\n    " << failure.right << "\n  seed " << failure.seed;
  }
};

/// An entry by its row and column, from 1.
inline std::string entry(std::size_t row, std::size_t column) {
  return "row " + std::to_string(row) + ", column " + std::to_string(column);
}

inline const char* const autoregressive_claim = "T(X|i) = T(X)|i";
inline const char* const rowwise_claim = "T(X_i) = T(X)_i";

/// The name of an arithmetic.
template <class Real>
const char* arithmetic() {
  if constexpr (std::is_same_v<Real, PrimeField>)
    return "(c) the prime field";
  else if constexpr (std::is_same_v<Real, Positions>)
    return "(d) sets of positions";
  else if constexpr (std::is_same_v<Real, float>)
    return "(b) float";
  else
    return "(a) double";
}

/// Rows first, …, first + count − 1 of X, as a sequence of their own.
template <class M>
M rows_from(const M& X, std::size_t first, std::size_t count) {
  M part{Sequences{count}};
  std::copy_n(X.data() + first * M::cols, count * M::cols, part.data());
  return part;
}

/// Row i of X as a sequence of its own; of a source and a target, that of the target.
template <class Domain>
Domain row_of(const Domain& X, std::size_t i) {
  if constexpr (requires { X.y; })
    return {X.x, rows_from(X.y, i, 1)};
  else
    return rows_from(X, i, 1);
}

/// Whether two results count as equal: exactly, but for doubles, which may differ by 1e-12 of their size. A sum of a few
/// dozen terms loses less than 1e-14, and a normalization multiplies that by 1/σ: at most 10 for the rows that are drawn.
/// Rows inside a model are not drawn; for them there is another factor of 10. (The greatest difference of all is 3e-15.)
struct Agree {
  template <class Real>
  bool operator()(const Real& left, const Real& right) const {
    if constexpr (std::is_same_v<Real, double>)
      return std::abs(left - right) <= 1e-12 * std::max({1.0, std::abs(left), std::abs(right)});
    else
      return left == right;
  }
};

/// Whether two results are the same bit for bit.
struct SameBits {
  template <class Real>
  bool operator()(const Real& left, const Real& right) const {
    return std::memcmp(&left, &right, sizeof(Real)) == 0;
  }
};

template <class Real>
std::string shown(const Real& number) {
  std::ostringstream out;
  out.precision(17);
  out << number;
  return out.str();
}

/// The failure with the first entry in which two results of the same shape differ, or none. `before` rows precede them.
template <class M, class Same = Agree>
std::optional<Failure> first_difference(Failure failure, const M& left, const M& right, std::size_t before = 0,
                                        const Same& same = {}) {
  for (std::size_t r = 0; r < left.rows(); ++r)
    for (std::size_t j = 0; j < M::cols; ++j)
      if (!same(left(r, j), right(r, j))) {
        failure.entry = entry(before + r + 1, j + 1);
        failure.left = shown(left(r, j));
        failure.right = shown(right(r, j));
        return failure;
      }
  return std::nullopt;
}

/// Runs `check(generator)`; where a denominator of the field was 0, again with the next numbers.
template <class Check>
auto redrawing(std::uint64_t seed, const Check& check) {
  for (Generator generator{seed};;) try {
      return check(generator);
    } catch (const ZeroDenominator&) {
    }
}

/// (a) and (c): T applied to part of X, X|i or X_i, against that part of T(X).
template <template <class> class Layer, class Real>
std::optional<Failure> compare_parts(std::string_view name, bool rowwise_parts, std::uint64_t seed) {
  using T = Layer<Real>;
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layer = draw_layer<T>(generator);
    for (std::size_t n = 1; n <= greatest_n; ++n) {
      const auto X = draw_input<typename T::domain>(Sequences{n}, generator);
      const auto Y = layer(X);
      for (std::size_t i = 1; i <= n; ++i) {
        const std::size_t first = rowwise_parts ? i - 1 : 0, count = i - first;
        const auto failure = first_difference(
            {rowwise_parts ? rowwise_claim : autoregressive_claim, std::string(name), arithmetic<Real>(), seed, n, i},
            layer(rowwise_parts ? row_of(X, i - 1) : X | i), rows_from(Y, first, count), first);
        if (failure) return failure;
      }
    }
    return std::nullopt;
  });
}

/// An entry spoilt in one of five ways: another number, NaN, ∞, −∞, a great number; for tokens, another token.
template <class Entry>
Entry spoilt(int way, Generator& generator) {
  const Entry other = draw<Entry>(generator);
  if constexpr (std::is_floating_point_v<Entry>) {
    constexpr Entry infinity = std::numeric_limits<Entry>::infinity();
    const Entry values[] = {other, std::numeric_limits<Entry>::quiet_NaN(), infinity, -infinity, Entry(1e4) * other};
    return values[way];
  } else {
    return other;
  }
}
inline constexpr const char* ways_to_spoil[] = {"other numbers", "NaN", "∞", "−∞", "great numbers"};

/// The arithmetic of (b), and what other rows became.
template <class Real>
std::string bits(int way) {
  return std::string(std::is_same_v<Real, float> ? "(b) float" : "(b) double") + ", other rows became " +
         ways_to_spoil[way];
}

/// (b): what is done to other rows leaves a row of T(X) the same bit for bit. For T_LM the other rows are other tokens.
template <template <class> class Layer, class Real>
std::optional<Failure> spoil_other_rows(std::string_view name, bool rowwise_parts, std::uint64_t seed,
                                        const std::vector<std::size_t>& numbers_of_rows = {1, 2, 3, 4, 5, 6}) {
  using T = Layer<Real>;
  Generator generator{seed};
  const auto layer = draw_layer<T>(generator);
  for (const std::size_t n : numbers_of_rows) {
    const auto X = draw_input<typename T::domain>(Sequences{n}, generator);
    const auto Y = layer(X);
    for (std::size_t i = 1; i <= n; ++i)
      for (int way = 0; way < 5; ++way) {
        auto other = X;
        for (std::size_t r = 0; r < n; ++r)
          for (std::size_t j = 0; j < T::domain::cols; ++j)
            if (rowwise_parts ? r + 1 != i : r >= i) other(r, j) = spoilt<typename T::domain::Real>(way, generator);
        const std::size_t first = rowwise_parts ? i - 1 : 0, count = i - first;
        const auto failure = first_difference(
            {rowwise_parts ? rowwise_claim : autoregressive_claim, std::string(name), bits<Real>(way), seed, n, i},
            rows_from(layer(other), first, count), rows_from(Y, first, count), first, SameBits{});
        if (failure) return failure;
      }
  }
  return std::nullopt;
}

/// What a row is to depend on.
enum class Sees {
  only_itself,     ///< row i on exactly row i
  the_past,        ///< row i on no other rows than 1, …, i
  all_of_the_past  ///< row i on exactly the rows 1, …, i
};

/// (d): which rows of X row i of T(X) depends on.
template <template <class> class Layer>
std::optional<Failure> trace_positions(std::string_view name, Sees sees) {
  using T = Layer<Positions>;
  Generator generator{0};
  const auto layer = draw_layer<T>(generator);
  for (std::size_t n = 1; n <= greatest_n; ++n) {
    const auto Y = layer(tagged<typename T::domain>(Sequences{n}));
    for (std::size_t i = 1; i <= n; ++i) {
      Positions expected = Positions::position(i - 1);
      if (sees != Sees::only_itself)
        for (std::size_t r = 0; r + 1 < i; ++r) expected += Positions::position(r);
      for (std::size_t j = 0; j < T::codomain::cols; ++j) {
        const auto tags = Y(i - 1, j).tags();
        if (sees == Sees::the_past ? (tags & ~expected.tags()) != 0 : tags != expected.tags())
          return Failure{sees == Sees::only_itself ? "row i depends on row i and no other"
                         : sees == Sees::the_past  ? "row i depends on no row behind i"
                                                   : "row i depends on all of the rows 1, …, i and no other",
                         std::string(name),
                         arithmetic<Positions>(),
                         0,
                         n,
                         i,
                         entry(i, j + 1),
                         shown(Y(i - 1, j)),
                         shown(expected)};
      }
    }
  }
  return std::nullopt;
}

/// What each arithmetic says of a claim.
struct Verdict {
  std::optional<Failure> a, b, c, d;

  bool holds() const { return !a && !b && !c && !d; }

  friend std::ostream& operator<<(std::ostream& out, const Verdict& verdict) {
    for (const auto* failure : {&verdict.a, &verdict.b, &verdict.c, &verdict.d})
      if (*failure) out << **failure;
    return out;
  }
};

/// The claim about T over all four arithmetics, each with seeds and keys of its own. Tokens carry no tags: of a layer
/// that reads tokens (d) sees nothing, and the layers behind Em are listed by themselves.
template <template <class> class Layer>
Verdict verdict(std::string_view name, bool rowwise_parts) {
  Verdict verdict;
  verdict.a = compare_parts<Layer, double>(name, rowwise_parts, 1);
  verdict.b = spoil_other_rows<Layer, float>(name, rowwise_parts, 2);
  if (!verdict.b) verdict.b = spoil_other_rows<Layer, double>(name, rowwise_parts, 3);
  for (const std::uint64_t key : {11u, 12u}) {
    PrimeField::key = key;
    if (!verdict.c) verdict.c = compare_parts<Layer, PrimeField>(name, rowwise_parts, key);
  }
  if constexpr (!reads_tokens<Layer<Positions>>)
    verdict.d = trace_positions<Layer>(name, rowwise_parts ? Sees::only_itself : Sees::the_past);
  return verdict;
}

/// T is autoregressive, as far as running it can tell.
template <template <class> class Layer>
Verdict autoregressive_verdict(std::string_view name) {
  return verdict<Layer>(name, false);
}

/// T is rowwise, as far as running it can tell.
template <template <class> class Layer>
Verdict rowwise_verdict(std::string_view name) {
  return verdict<Layer>(name, true);
}

/// T of a stack is the stack of T: the sequences of a batch do not affect each other, whatever their lengths.
template <template <class> class Layer, class Real>
std::optional<Failure> compare_stack(std::string_view name, std::uint64_t seed) {
  using T = Layer<Real>;
  return redrawing(seed, [&](Generator& generator) {
    const auto layer = draw_layer<T>(generator);
    std::vector<typename T::domain> alone;
    std::vector<typename T::codomain> results;
    for (const std::size_t length : {3u, 1u, 6u, 2u}) {
      alone.push_back(draw_input<typename T::domain>(Sequences{length}, generator));
      results.push_back(layer(alone.back()));
    }
    const auto expected = stack(results);
    return first_difference({"T of a stack is the stack of T", std::string(name), arithmetic<Real>(), seed,
                             expected.rows(), expected.rows()},
                            layer(stack(alone)), expected);
  });
}

/// What is done to one sequence of a stack leaves the others the same bit for bit.
template <template <class> class Layer, class Real>
std::optional<Failure> spoil_other_sequences(std::string_view name, std::uint64_t seed) {
  using T = Layer<Real>;
  Generator generator{seed};
  const auto layer = draw_layer<T>(generator);
  const auto sequences = Sequences::of_lengths({3, 1, 2});
  const auto X = draw_input<typename T::domain>(sequences, generator);
  const auto Y = layer(X);
  const auto spoil = [&](auto& rows, std::size_t s, int way) {
    for (std::size_t r = rows.sequences().begin(s); r < rows.sequences().end(s); ++r)
      for (std::size_t j = 0; j < rows.cols; ++j)
        rows(r, j) = spoilt<typename std::remove_cvref_t<decltype(rows)>::Real>(way, generator);
  };
  for (std::size_t s = 0; s < sequences.count(); ++s)
    for (int way = 0; way < 5; ++way) {
      auto other = X;
      if constexpr (requires { other.y; }) {
        spoil(other.x, s, way);
        spoil(other.y, s, way);
      } else {
        spoil(other, s, way);
      }
      const auto Z = layer(other);
      for (std::size_t t = 0; t < sequences.count(); ++t) {
        if (t == s) continue;
        const auto failure = first_difference(
            {"sequence " + std::to_string(s + 1) + " does not affect sequence " + std::to_string(t + 1),
             std::string(name), bits<Real>(way), seed, sequences.rows(), sequences.rows()},
            sequence(Z, t), sequence(Y, t), sequences.begin(t), SameBits{});
        if (failure) return failure;
      }
    }
  return std::nullopt;
}

/// The rows of a sequence depend on no rows of other sequences, for every input and all weights of that shape.
template <template <class> class Layer>
std::optional<Failure> trace_sequences(std::string_view name) {
  using T = Layer<Positions>;
  Generator generator{0};
  const auto layer = draw_layer<T>(generator);
  const auto sequences = Sequences::of_lengths({3, 1, 2});
  typename T::domain X{sequences};
  for (std::size_t s = 0; s < sequences.count(); ++s)
    for (std::size_t r = sequences.begin(s); r < sequences.end(s); ++r)
      for (std::size_t j = 0; j < T::domain::cols; ++j) X(r, j) = Positions::position(s);
  const auto Y = layer(X);
  for (std::size_t s = 0; s < sequences.count(); ++s)
    for (std::size_t r = sequences.begin(s); r < sequences.end(s); ++r)
      for (std::size_t j = 0; j < T::codomain::cols; ++j)
        if (Y(r, j).tags() != Positions::position(s).tags())
          return Failure{"a sequence depends on itself and on no other",
                         std::string(name),
                         "(d) sets of sequences",
                         0,
                         sequences.rows(),
                         sequences.rows(),
                         entry(r + 1, j + 1),
                         shown(Y(r, j)),
                         shown(Positions::position(s))};
  return std::nullopt;
}

/// The sequences of a batch do not affect each other, whatever their lengths: over all four arithmetics.
template <template <class> class Layer>
Verdict sequences_verdict(std::string_view name) {
  Verdict verdict;
  verdict.a = compare_stack<Layer, double>(name, 1);
  verdict.b = spoil_other_sequences<Layer, float>(name, 2);
  if (!verdict.b) verdict.b = spoil_other_sequences<Layer, double>(name, 3);
  verdict.c = compare_stack<Layer, PrimeField>(name, 11);
  if constexpr (!reads_tokens<Layer<Positions>>) verdict.d = trace_sequences<Layer>(name);
  return verdict;
}

/// Requires that a claim holds: prints the counter-example if there is one.
inline void must_hold(const std::optional<Failure>& failure) { CHECK_MESSAGE(!failure, *failure); }
/// Requires that a claim holds over all four arithmetics.
inline void must_hold(const Verdict& verdict) { CHECK_MESSAGE(verdict.holds(), verdict); }

/// Requires that two matrices are equal, in the sense of Agree.
template <class M>
void must_be_equal(const char* claim, const char* object, const M& left, const M& right, std::uint64_t seed) {
  REQUIRE(left.sequences() == right.sequences());
  must_hold(
      first_difference({claim, object, arithmetic<typename M::Real>(), seed, left.rows(), left.rows()}, left, right));
}

}  // namespace tlm::proofs
