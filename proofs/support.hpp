// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <tlm/checking/check.hpp>

#include "layers.hpp"

/// The proofs are test cases. If a claim does not hold, its test case fails, and prints the counter-example.
namespace tlm::proofs {

using namespace checking;

/// The largest n that the proofs try.
inline constexpr std::size_t greatest_n = Limits{}.rows;

/// Requires that a claim holds: the first counter-example is printed, and ends the test case.
inline void must_hold(const std::optional<Failure>& failure) {
  if (failure) FAIL(*failure);
}
/// Requires that a claim holds over all four arithmetics.
inline void must_hold(const Verdict& verdict) {
  if (!verdict.holds()) FAIL(verdict);
}

/// Whether a line says this about its layer.
inline bool says(const Report::Line& line, std::string_view words) {
  return !line.note && line.statement.find(words) != std::string::npos;
}
/// Requires that the statement of a report with these words holds. Returns whether the report has such a statement.
inline bool must_hold(const Report& report, std::string_view words) {
  bool said = false;
  for (const Report::Line& line : report.lines())
    if (says(line, words)) {
      said = true;
      must_hold(line.failure);
    }
  return said;
}

/// Requires that the two sides of an equation are equal, in the sense of Agree. For a single sequence, n is its number
/// of rows.
template <class M>
void must_be_equal(const char* equation, const std::string& object, const M& left, const M& right, std::uint64_t seed) {
  std::optional<std::size_t> n;
  if constexpr (requires { left.sequences(); })
    if (left.sequences().count() == 1) n = left.rows();
  must_hold(first_difference({.claim = equation,
                              .layer = object,
                              .arithmetic = arithmetic<typename M::Real>(),
                              .seed = seed,
                              .n = n,
                              .left = {"the left side is", ""},
                              .right = {"the right side is", ""}},
                             left, right));
}

}  // namespace tlm::proofs
