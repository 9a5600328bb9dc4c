// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/algebra/pullback.hpp>
#include <tlm/checking/drawing.hpp>
#include <tlm/checking/report.hpp>

/// When two results count as equal, and where they differ.
namespace tlm::checking {

/// The name of an arithmetic.
template <class Real>
const char* arithmetic() {
  if constexpr (std::is_same_v<Real, PrimeField>)
    return "the prime field";
  else if constexpr (std::is_same_v<Real, Dependencies>)
    return "sets of positions";
  else if constexpr (std::is_same_v<Real, float>)
    return "float";
  else
    return "double";
}

/// An entry by its row and column, from 1.
inline std::string entry(std::size_t row, std::size_t column) {
  return "row " + std::to_string(row) + ", column " + std::to_string(column);
}

/// A number with all of its digits, a set as {1, 2}.
template <class Real>
std::string shown(const Real& number) {
  std::ostringstream out;
  out.precision(17);
  out << number;
  return out.str();
}

/// As in "3, 1 and 2 rows".
inline std::string shown(const Sequences& sequences) {
  std::string lengths;
  for (std::size_t s = 0; s < sequences.count(); ++s)
    lengths += (s == 0 ? "" : s + 1 < sequences.count() ? ", " : " and ") + std::to_string(sequences.length(s));
  return (lengths.empty() ? "no" : lengths) + (lengths == "1" ? " row" : " rows");
}

/// As in "in a stack of 3, 1 and 2 rows", or "in a sequence of 1 row".
inline std::string within(const Sequences& sequences) {
  return (sequences.count() == 1 ? "in a sequence of " : "in a stack of ") + shown(sequences);
}

/// True if two results count as equal. Doubles may differ by 1e-12 of their size; all others must be equal exactly. A
/// sum of a few dozen terms loses less than 1e-14. A normalization multiplies that by 1/σ, at most 10 for the rows that
/// are drawn. Rows inside a model are not drawn; for them there is another factor of 10.
struct Agree {
  template <class Real>
  bool operator()(const Real& left, const Real& right) const {
    if constexpr (std::is_same_v<Real, double>)
      return std::abs(left - right) <= 1e-12 * std::max({1.0, std::abs(left), std::abs(right)});
    else
      return same(left, right);
  }
};

/// True if two results are the same bit for bit.
struct SameBits {
  template <class Real>
  bool operator()(const Real& left, const Real& right) const {
    return std::memcmp(&left, &right, sizeof(Real)) == 0;
  }
};

/// True if a number depends on no other rows than another.
struct IsWithin {
  bool operator()(const Dependencies& seen, const Dependencies& allowed) const {
    return (seen.tags() & ~allowed.tags()) == 0;
  }
};

/// The failure of a claim, with the names of the two things that it compares.
inline Failure failure_of(const char* claim, const char* left, const char* right) {
  return {.claim = claim, .left = {left, ""}, .right = {right, ""}};
}

/// The failure with the first entry in which two results differ, or with their numbers of rows if these differ; or
/// none. `before` rows precede them.
template <class Real, class Same = Agree>
std::optional<Failure> first_difference(Failure failure, const Stacked<Real>& left, const Stacked<Real>& right,
                                        std::size_t before = 0, const Same& same = {}) {
  const auto with = [&](std::string where, const auto& a, const auto& b) {
    failure.entry = std::move(where);
    failure.left.value = shown(a);
    failure.right.value = shown(b);
    return failure;
  };
  if (!(left.sequences == right.sequences)) return with("the numbers of rows", left.sequences, right.sequences);
  for (std::size_t e = 0; e < left.numbers.size(); ++e)
    if (!same(left.numbers[e], right.numbers[e]))
      return with(entry(before + e / left.cols + 1, e % left.cols + 1), left.numbers[e], right.numbers[e]);
  return std::nullopt;
}
/// For matrices.
template <class M, class Same = Agree>
requires requires { typename M::Real; }
std::optional<Failure> first_difference(const Failure& failure, const M& left, const M& right, std::size_t before = 0,
                                        const Same& same = {}) {
  using Real = typename M::Real;
  return first_difference(failure, Stacked<Real>{left}, Stacked<Real>{right}, before, same);
}
/// For tables; expected(k, e) is number e of table k. The failure names the table.
template <class Real, class Expected, class Same = Agree>
std::optional<Failure> first_difference(Failure failure, const std::vector<NamedWeight<Real>>& tables,
                                        const Expected& expected, const Same& same = {}) {
  for (std::size_t k = 0; k < tables.size(); ++k)
    for (std::size_t e = 0; e < tables[k].size(); ++e) {
      const Real right = expected(k, e);
      if (same(tables[k].numbers[e], right)) continue;
      failure.entry = tables[k].path + ", " + entry(e / tables[k].cols + 1, e % tables[k].cols + 1);
      failure.left.value = shown(tables[k].numbers[e]);
      failure.right.value = shown(right);
      return failure;
    }
  return std::nullopt;
}

/// T(X). If T throws, Thrown tells where. A denominator of 0 in the prime field is passed on, because all is drawn
/// anew.
template <class Real>
Stacked<Real> value_at(const Operation<Real>& T, const Input<Real>& X, const Failure& where) {
  try {
    return T(X);
  } catch (const ZeroDenominator&) {
    throw;
  } catch (const std::exception& thrown) {
    throw Thrown{where, thrown};
  }
}

/// Stacks of sequences of these lengths, none longer than the limit.
inline std::vector<Sequences> stacks(const Limits& limits, std::vector<std::vector<std::size_t>> lengths) {
  std::vector<Sequences> all;
  for (auto& of_one : lengths) {
    for (std::size_t& length : of_one) length = std::min(length, limits.rows);
    all.push_back(Sequences::of_lengths(of_one));
  }
  return all;
}
/// The stacks on which pullbacks are checked: the smallest first, then one of five sequences. Of these one is empty,
/// one as long as the limit, and two are of one length.
inline std::vector<Sequences> stacks_of_pullbacks(const Limits& limits) {
  return stacks(limits, {{1}, {2, 1}, {3, 0, limits.rows, 1, 3}});
}

/// The failure that `check` finds on the first of these stacks, with that stack. If a denominator of the prime field is
/// 0, all is drawn anew. Floating-point numbers are drawn in both kinds.
template <class Real>
std::optional<Failure> on_stacks(
    const Operation<Real>& T, std::uint64_t seed, const std::vector<Sequences>& stacks,
    const std::function<std::optional<Failure>(const Sequences&, Generator&, Draw)>& check) {
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    for (const Sequences& sequences : stacks)
      for (const Draw kind : draws<Real>())
        if (auto found = check(sequences, generator, kind)) {
          found->layer = T.name;
          if (found->arithmetic.empty()) found->arithmetic = arithmetic<Real>();
          if (!std::is_same_v<Real, Dependencies>) found->seed = seed;
          found->place = within(sequences) + (found->place.empty() ? "" : ", " + found->place);
          return found;
        }
    return std::nullopt;
  });
}

}  // namespace tlm::checking
