// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// The failure of T(PX) = P T(X) for all permutations P of the first `moved` of four rows of X, if only the rows after
/// the first `left_out` are compared. (A maximum is the only function here for which the order of its arguments could
/// matter, and it is symmetric.)
inline std::optional<Failure> permutation_fails(const Operation<PrimeField>& T, std::uint64_t seed,
                                                std::size_t moved = 4, std::size_t left_out = 0) {
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layer = drawn(T, generator);
    const auto X = draw_input(T, Sequences{4}, generator);
    const auto Y = (*layer)(X);
    auto failure = failure_of("T(PX) = P T(X)", "T(PX) gives", "P T(X) gives");
    failure.layer = T.name;
    failure.arithmetic = arithmetic<PrimeField>();
    failure.seed = seed;
    failure.n = 4;
    std::vector<std::size_t> order{0, 1, 2, 3};
    while (std::next_permutation(order.begin(), order.begin() + std::ptrdiff_t(moved))) {
      const auto of_permuted = (*layer)(X.with(X.target.rows(Sequences{4}, order)));
      const auto permuted = Y.rows(Sequences{4}, order);
      if (auto found = first_difference(failure, of_permuted.rows(left_out, 4 - left_out),
                                        permuted.rows(left_out, 4 - left_out), left_out))
        return found;
    }
    return std::nullopt;
  });
}

}  // namespace tlm::proofs
