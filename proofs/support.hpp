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

/// Requires that a claim holds: prints the counter-example if there is one.
inline void must_hold(const std::optional<Failure>& failure) { CHECK_MESSAGE(!failure, *failure); }
/// Requires that a claim holds over all four arithmetics.
inline void must_hold(const Verdict& verdict) { CHECK_MESSAGE(verdict.holds(), verdict); }

/// Requires that two matrices are equal, in the sense of Agree.
template <class M>
void must_be_equal(const char* claim, const std::string& object, const M& left, const M& right, std::uint64_t seed) {
  must_hold(first_difference({.claim = claim,
                              .layer = object,
                              .arithmetic = arithmetic<typename M::Real>(),
                              .seed = seed,
                              .left = {"the one side is", ""},
                              .right = {"the other is", ""}},
                             left, right));
}

}  // namespace tlm::proofs
