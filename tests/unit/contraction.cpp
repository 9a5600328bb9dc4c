// SPDX-License-Identifier: MIT
// Compiled with optimisation, and for this processor. Then a compiler may contract a·b + c to an operation that rounds once. It must
// do so for each entry of a vector or for none: bits do not depend on an entry's place, nor on how many there are.

#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <tlm/numbers/vector.hpp>

using namespace tlm;

TEST_CASE_TEMPLATE("a·b + c is rounded once in each entry of a vector, or twice in each", Real, float, double) {
  // a² = 1 + 2e + e² is rounded to p = 1 + 2e. So a·a − p is 0 if it is rounded twice, and e² if it is rounded once.
  const Real e = std::ldexp(Real(1), -(std::numeric_limits<Real>::digits + 1) / 2), a = 1 + e, p = 1 + 2 * e;
  volatile Real product = a * a;
  REQUIRE(std::set<Real>{product - p, std::fma(a, a, -p)} == std::set<Real>{0, e * e});
  std::set<Real> assigned, added;
  for (std::size_t count = 1; count <= 40; ++count) {
    const std::vector<Real> factors(count, a);
    std::vector<Real> sums(count, -p), others = sums;
    const auto x = detail::as_vector(factors.data(), count);
    auto y = detail::as_vector(sums.data(), count), z = detail::as_vector(others.data(), count);
    y = a * x + y;
    z += a * x;
    assigned.insert(sums.begin(), sums.end());
    added.insert(others.begin(), others.end());
  }
  CHECK(assigned.size() == 1);
  CHECK(added.size() == 1);
}
