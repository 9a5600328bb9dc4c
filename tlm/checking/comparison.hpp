// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/algebra/parameters.hpp>
#include <tlm/checking/drawing.hpp>
#include <tlm/checking/report.hpp>

/// When two results count as equal, and where they differ.
namespace tlm::checking {

/// The name of an arithmetic.
template <class Real>
const char* arithmetic() {
  return std::is_same_v<Real, PrimeField>     ? "the prime field"
         : std::is_same_v<Real, Dependencies> ? "sets of positions"
         : std::is_same_v<Real, float>        ? "float"
                                              : "double";
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

/// True if two results count as equal. Doubles may differ by 1e-12 of their size, or of 1 if they are smaller, and
/// must be finite; all others must be equal exactly. A sum of a few dozen terms loses less than 1e-14. A
/// normalization multiplies that by 1/σ, at most 10 for the rows that are drawn. Rows inside a model are not drawn;
/// for them there is another factor of 10.
struct Agree {
  template <class Real>
  bool operator()(const Real& left, const Real& right) const {
    if constexpr (std::is_same_v<Real, double>)
      return std::isfinite(left - right) &&
             std::abs(left - right) <= 1e-12 * std::max({1.0, std::abs(left), std::abs(right)});
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

/// The failure of a claim, with the names of the two things that it compares.
inline Failure failure_of(const char* claim, const char* left, const char* right) {
  return {.claim = claim, .left = {left, ""}, .right = {right, ""}};
}

/// The failure with the first entry in which two results differ, or with their numbers of rows or columns if these differ;
/// or none. `before` rows precede them.
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
  if (left.cols != right.cols) return with("the numbers of columns", left.cols, right.cols);
  for (std::size_t e = 0; e < left.numbers.size(); ++e)
    if (!same(left.numbers[e], right.numbers[e]))
      return with(entry(before + e / left.cols + 1, e % left.cols + 1), left.numbers[e], right.numbers[e]);
  return std::nullopt;
}
/// The failure with the first entry of these rows that depends on a row that is not allowed. `allowed` is no structural zero.
inline std::optional<Failure> depends_on_more(Failure failure, const Stacked<Dependencies>& rows, Dependencies allowed,
                                              std::size_t before) {
  failure.right.label = "and may depend on";
  auto most = rows;
  std::fill(most.numbers.begin(), most.numbers.end(), allowed);
  const auto is_within = [](Dependencies seen, Dependencies most_seen) { return same(seen + most_seen, most_seen); };
  return first_difference(failure, rows, most, before, is_within);
}
/// For tables; expected(k, e) is number e of table k. The failure names the table.
template <class Real, class Expected, class Same = Agree>
std::optional<Failure> first_difference(Failure failure, const std::vector<Parameter<Real>>& tables,
                                        const Expected& expected, const Same& same = {}) {
  for (std::size_t k = 0; k < tables.size(); ++k)
    for (std::size_t e = 0; e < tables[k].size(); ++e) {
      const Real right = expected(k, e);
      if (same(tables[k].numbers[e], right)) continue;
      failure.entry = std::string(tables[k].path) + ", " + entry(e / tables[k].cols + 1, e % tables[k].cols + 1);
      failure.left.value = shown(tables[k].numbers[e]);
      failure.right.value = shown(right);
      return failure;
    }
  return std::nullopt;
}

}  // namespace tlm::checking
