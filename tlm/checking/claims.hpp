// SPDX-License-Identifier: MIT
#pragma once

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

/// The checks of "T is rowwise" and "T is autoregressive", by running T over four arithmetics.
///
///   reals  double: T(X|i) and T(X)|i agree within a bound;
///   bits   float and double: at one n, whatever is done to the rows behind i, NaN and ±∞ included, leaves the first i
///          rows of T(X) the same bit for bit;
///   field  the prime field: T(X|i) = T(X)|i exactly, for two keys of the uninterpreted functions;
///   sets   sets of positions: row i of T(X) depends on no other rows of X than 1, …, i; or, for a rowwise T, than i.
///          One run covers every input and all weights of that shape.
///
/// `bits` and `sets` see that the future does not reach the past at one n, `reals` and `field` that nothing depends on n:
/// both are needed. All run through n = 1, 2, … and i = 1, …, n in order, so that the first failure is the smallest. Of a
/// source and a target it is the target that is cut and spoilt.
///
/// What a pass of `field` proves: both sides are rational functions of the entries and of the values of the uninterpreted
/// functions. If they were different functions, then with the hashes modelled as random functions the difference would
/// vanish at a random point with probability at most H²·D/p for H hash calls and degree D (Schwartz and Zippel, and a
/// collision of two hash arguments). For the layers of the library H < 10⁴ and p ≈ 2·10¹⁸; and D < 10³, as what is hashed
/// is a variable of degree 1 again and each of at most two blocks multiplies the degree of a row by the common denominator
/// of n ≤ 6 rows, by less than 10. So it is less than 10⁻⁷ for each run. The converse fails: softmax with the maximum of
/// the full row subtracted is right over ℝ, where exp(a−m) = exp(a)/exp(m), and red here, where exp obeys no law.
namespace tlm::checking {

/// What is checked of T: T(X_i) = T(X)_i, or T(X|i) = T(X)|i.
enum class Claim { rowwise, autoregressive };

/// The claim about a cut at row i, of which rows first, …, i are left.
struct Cut {
  Claim claim;
  std::size_t i;

  std::size_t first() const { return claim == Claim::rowwise ? i - 1 : 0; }
  std::size_t count() const { return i - first(); }
  /// Whether row r, from 0, is cut off.
  bool hides(std::size_t r) const { return claim == Claim::rowwise ? r + 1 != i : r >= i; }
  /// X_i or X|i.
  template <class Domain>
  Domain of(const Domain& X) const {
    return with_target(X, rows_from(target(X), first(), count()));
  }
  /// A counter-example to the claim at n.
  Failure failure(std::string_view layer, const char* arithmetic, std::uint64_t seed, std::size_t n) const {
    const bool single = claim == Claim::rowwise;
    return {.claim = single ? "T(X_i) = T(X)_i" : "T(X|i) = T(X)|i",
            .layer = std::string(layer),
            .arithmetic = arithmetic,
            .seed = seed,
            .n = n,
            .i = i,
            .left = {single ? "T(X_i) gives" : "T(X|i) gives", ""},
            .right = {single ? "T(X)_i gives" : "T(X)|i gives", ""}};
  }
  /// The same, where the rows that are cut off were spoilt in this way.
  Failure spoilt(std::string_view layer, const char* arithmetic, std::uint64_t seed, std::size_t n,
                 const char* way) const {
    Failure spoilt = failure(layer, arithmetic, seed, n);
    spoilt.left.label = std::string("where the other rows are ") + way + ", T(X) gives";
    spoilt.right.label = "before, T(X) gave";
    return spoilt;
  }
};

/// Where T(X) is computed, of which rows are left then.
inline Failure at(std::string_view layer, Claim claim, const char* arithmetic, std::uint64_t seed, std::size_t n) {
  Failure failure = Cut{claim, n}.failure(layer, arithmetic, seed, n);
  failure.i.reset();
  return failure;
}

/// The failure to have as many rows as X, which has n.
inline Failure other_rows(std::string_view layer, const char* arithmetic, const Sequences& rows, std::size_t n) {
  return {.claim = "T(X) has as many rows as X",
          .layer = std::string(layer),
          .arithmetic = arithmetic,
          .n = n,
          .left = {"T(X) has", shown(rows)},
          .right = {"X has", shown(Sequences{n})}};
}

/// `reals` and `field`: T applied to part of X, X|i or X_i, against that part of T(X).
template <template <class> class Layer, class Real>
std::optional<Failure> compare_parts(std::string_view name, Claim claim, std::uint64_t seed,
                                     const Limits& limits = {}) {
  using T = Layer<Real>;
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layer = draw_layer<T>(generator);
    for (std::size_t n = 1; n <= limits.rows; ++n) {
      const auto X = draw_input<typename T::domain>(Sequences{n}, generator, limits);
      const auto Y = value_at(layer, X, at(name, claim, arithmetic<Real>(), seed, n));
      if (Y.rows() != n) return other_rows(name, arithmetic<Real>(), Y.sequences(), n);
      for (std::size_t i = 1; i <= n; ++i) {
        const Cut cut{claim, i};
        const Failure failure = cut.failure(name, arithmetic<Real>(), seed, n);
        const auto found = first_difference(failure, value_at(layer, cut.of(X), failure),
                                            rows_from(Y, cut.first(), cut.count()), cut.first());
        if (found) return found;
      }
    }
    return std::nullopt;
  });
}

/// An entry spoilt in one of five ways: another number, NaN, ∞, −∞, a great number; for tokens, another token.
template <class Entry>
Entry spoilt(int way, Generator& generator, const Limits& limits = {}) {
  const Entry other = draw<Entry>(generator, limits);
  if constexpr (std::is_floating_point_v<Entry>) {
    constexpr Entry infinity = std::numeric_limits<Entry>::infinity();
    const Entry values[] = {other, std::numeric_limits<Entry>::quiet_NaN(), infinity, -infinity, Entry(1e4) * other};
    return values[way];
  } else {
    return other;
  }
}

/// What entries become.
template <class Entry>
const char* way_to_spoil(int way) {
  static constexpr const char* ways[] = {"other numbers", "NaN", "∞", "−∞", "great numbers"};
  return std::is_floating_point_v<Entry> ? ways[way] : "other tokens";
}

/// `bits`: what is done to other rows leaves a row of T(X) the same bit for bit.
template <template <class> class Layer, class Real>
std::optional<Failure> spoil_other_rows(std::string_view name, Claim claim, std::uint64_t seed, const Limits& limits,
                                        const std::vector<std::size_t>& numbers_of_rows) {
  using T = Layer<Real>;
  using Entry = typename Target<typename T::domain>::Real;
  Generator generator{seed};
  const auto layer = draw_layer<T>(generator);
  for (const std::size_t n : numbers_of_rows) {
    const auto X = draw_input<typename T::domain>(Sequences{n}, generator, limits);
    const auto Y = value_at(layer, X, at(name, claim, arithmetic<Real>(), seed, n));
    for (std::size_t i = 1; i <= n; ++i)
      for (int way = 0; way < 5; ++way) {
        const Cut cut{claim, i};
        auto other = X;
        for (std::size_t r = 0; r < n; ++r)
          for (std::size_t j = 0; j < target(other).cols; ++j)
            if (cut.hides(r)) target(other)(r, j) = spoilt<Entry>(way, generator, limits);
        const Failure failure = cut.spoilt(name, arithmetic<Real>(), seed, n, way_to_spoil<Entry>(way));
        const auto found =
            first_difference(failure, rows_from(value_at(layer, other, failure), cut.first(), cut.count()),
                             rows_from(Y, cut.first(), cut.count()), cut.first(), SameBits{});
        if (found) return found;
      }
  }
  return std::nullopt;
}

/// The same for n = 1, 2, …
template <template <class> class Layer, class Real>
std::optional<Failure> spoil_other_rows(std::string_view name, Claim claim, std::uint64_t seed,
                                        const Limits& limits = {}) {
  std::vector<std::size_t> numbers_of_rows;
  for (std::size_t n = 1; n <= limits.rows; ++n) numbers_of_rows.push_back(n);
  return spoil_other_rows<Layer, Real>(name, claim, seed, limits, numbers_of_rows);
}

/// What each arithmetic says of a claim.
struct Verdict {
  std::optional<Failure> reals, bits, field, sets;

  bool holds() const { return !reals && !bits && !field && !sets; }
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

}  // namespace tlm::checking
