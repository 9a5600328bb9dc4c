// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include <tlm/checking/check.hpp>

#include "layers.hpp"

/// The proofs are test cases: what must hold fails its test case, and prints the counter-example, if it does not.
namespace tlm::proofs {

using namespace checking;

/// The greatest n that the proofs run through.
inline constexpr std::size_t greatest_n = Limits{}.rows;

/// Requires that a claim holds: the first counter-example is printed, and ends the test case.
inline void must_hold(const std::optional<Failure>& failure) { REQUIRE_MESSAGE(!failure, *failure); }
/// Requires that a claim holds over all four arithmetics.
inline void must_hold(const Verdict& verdict) { REQUIRE_MESSAGE(verdict.holds(), verdict); }

/// Requires that the two sides of an equation are equal, in the sense of Agree.
template <class M>
void must_be_equal(const char* equation, const std::string& object, const M& left, const M& right, std::uint64_t seed) {
  must_hold(first_difference({.claim = equation,
                              .layer = object,
                              .arithmetic = arithmetic<typename M::Real>(),
                              .seed = seed,
                              .left = {"the left side is", ""},
                              .right = {"the right side is", ""}},
                             left, right));
}

}  // namespace tlm::proofs
