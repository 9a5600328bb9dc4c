// SPDX-License-Identifier: MIT
// Compiled with optimisation and for this processor. If that has an operation for a·b + c that rounds once, GCC uses it. It must do
// so for each entry of a vector or for none, or bits depended on an entry's place and on how many there are.

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <tlm/numbers/vector.hpp>

using namespace tlm;

TEST_CASE_TEMPLATE("a·b + c is rounded once in each of 1 to 40 entries, or twice in each", Real, float, double) {
  // a² = 1 + 2e + e² is rounded to p = 1 + 2e. So a·a − p is 0 if it is rounded twice, and e² if it is rounded once.
  const Real e = std::ldexp(Real(1), -(std::numeric_limits<Real>::digits + 1) / 2), a = 1 + e, p = 1 + 2 * e;
  volatile Real product = a * a;
  const Real twice = product - p, once = std::fma(a, a, -p);
  REQUIRE((twice == 0 && once == e * e));
  const auto check = [&](const auto& compute) {
    Real alone = 0;
    for (std::size_t count = 1; count <= 40; ++count) {
      CAPTURE(count);
      const std::vector<Real> factors(count, a);
      std::vector<Real> sums(count, -p);
      compute(detail::as_vector(sums.data(), count), detail::as_vector(factors.data(), count));
      if (count == 1) alone = sums[0];
      CHECK((sums == std::vector<Real>(count, alone) && (alone == once || alone == twice)));
    }
  };
  check([&](auto y, const auto& x) { y = a * x + y; });
  check([&](auto y, const auto& x) { y += a * x; });
}
