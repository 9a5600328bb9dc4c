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

#include "all_layers.hpp"

/// The proofs are test cases. If a claim does not hold, its test case fails, and prints the counter-example.
namespace tlm::proofs {

using namespace checking;

/// The largest n that the proofs try, unless they say otherwise.
inline constexpr std::size_t greatest_n = Limits{}.rows;

/// The faces of an operation that several files ask for, so that all of them have the same type.
inline constexpr int both_faces = pullback_face | extension_face;

/// Requires that a claim holds: the first counter-example is printed, and ends the test case.
inline void must_hold(const std::optional<Failure>& failure) {
  if (failure) FAIL(*failure);
}
/// Requires that a claim holds over each arithmetic in which it was run.
inline void must_hold(const Verdict& verdict) {
  if (!verdict.holds()) FAIL(verdict);
}

/// True if a claim fails by a counter-example. If something throws instead, nothing was shown.
inline bool fails(const std::optional<Failure>& failure) { return failure && failure->remark.empty(); }

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

using checking::same;
/// True if two matrices are the same, entry by entry and in their sequences.
template <class M>
requires requires(const M& X) { X.xtensor(); }
bool same(const M& A, const M& B) {
  if constexpr (requires { A.sequences(); })
    if (!(A.sequences() == B.sequences())) return false;
  for (std::size_t e = 0; e < A.rows() * M::cols; ++e)
    if (!same(A.data()[e], B.data()[e])) return false;
  return true;
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
                             Stacked<typename M::Real>{left}, Stacked<typename M::Real>{right}));
}

/// Rows first, …, first + count − 1 of X, as a sequence of their own.
template <auto rows_of_X, std::size_t cols, class Real>
Matrix<n, cols, Real> rows(const Matrix<rows_of_X, cols, Real>& X, std::size_t first, std::size_t count) {
  Matrix<n, cols, Real> part{Sequences{count}};
  std::copy_n(X.data() + first * cols, count * cols, part.data());
  return part;
}

/// The failure if an entry of row i of T(X) does not depend on one of the rows that the claim allows: on row i, or on 1,
/// …, i; and on each row of a source. Drawing one of these rows anew changes every entry. (A change is shown. An entry
/// that does not change at two random points might change at others.)
inline std::optional<Failure> a_row_does_not_count(const Operation<PrimeField>& T, Claim claim) {
  const auto on = [claim](const Trial<PrimeField>& at) -> std::optional<Failure> {
    const std::size_t n = at.sequences().rows();
    const auto Y = (*at.layer)(at.X);
    auto X = at.X;
    for (auto* rows : {&X.target, &X.source})
      for (std::size_t r = 1; r <= rows->sequences.rows(); ++r) {
        const auto before = *rows;
        if (!rows->tokens.empty())
          rows->tokens[r - 1] = (before.tokens[r - 1] + 1) % Token(at.limits.vocab_size);
        else
          std::generate_n(&(*rows)(r - 1, 0), rows->cols, [&] { return PrimeField::random(at.generator); });
        const auto Z = (*at.layer)(X);
        *rows = before;
        const bool of_source = rows == &X.source;
        for (std::size_t i = of_source ? 1 : r; i <= (claim == Claim::rowwise && !of_source ? r : n); ++i)
          for (std::size_t j = 0; j < Y.cols; ++j) {
            if (!same(Z(i - 1, j), Y(i - 1, j))) continue;
            at.failure.claim = of_source                 ? "row i depends on each row of the source"
                               : claim == Claim::rowwise ? "row i depends on row i"
                                                         : "row i depends on each of the rows 1, …, i";
            at.failure.i = i;
            at.failure.entry = entry(i, j + 1);
            at.failure.left = {"before and after another row " + std::to_string(r) + " it is", shown(Y(i - 1, j))};
            at.failure.right = {};
            return at.failure;
          }
      }
    return std::nullopt;
  };
  return on_stacks<PrimeField>(T, failure_of(claim), 13, single_sequences({}), {}, on);
}

/// The failure of T(PX) = P T(X) for all permutations P of the first `moved` of four rows of X, if only the rows after
/// the first `left_out` are compared. (A maximum is the only function here for which the order of its arguments could
/// matter, and it is symmetric.)
inline std::optional<Failure> permutation_fails(const Operation<PrimeField>& T, std::uint64_t seed,
                                                std::size_t moved = 4, std::size_t left_out = 0) {
  auto failure = failure_of("T(PX) = P T(X)", "T(PX) gives", "P T(X) gives");
  failure.n = 4;
  const auto on = [&](const Trial<PrimeField>& at) -> std::optional<Failure> {
    const auto Y = (*at.layer)(at.X);
    std::vector<std::size_t> order{0, 1, 2, 3};
    while (std::next_permutation(order.begin(), order.begin() + std::ptrdiff_t(moved))) {
      const auto of_permuted = (*at.layer)(at.X.with(at.X.target.rows(Sequences{4}, order)));
      const auto permuted = Y.rows(Sequences{4}, order);
      if (auto found = first_difference(at.failure, of_permuted.rows(left_out, 4 - left_out),
                                        permuted.rows(left_out, 4 - left_out), left_out))
        return found;
    }
    return std::nullopt;
  };
  return on_stacks<PrimeField>(T, failure, seed, {Sequences{4}}, {}, on);
}

}  // namespace tlm::proofs
