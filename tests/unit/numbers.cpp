// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <tlm/layers/relu.hpp>
#include <tlm/numbers/normal_distribution.hpp>
#include <tlm/numbers/rows.hpp>

#include "../support.hpp"

namespace tlm::tests::in_numbers {

TEST_CASE_TEMPLATE("ReLU(NaN) is NaN, ReLU(∞) is ∞, and ReLU′ is 1 above 0 and nowhere else, not at NaN either", Real,
                   float, double) {
  constexpr Real NaN = std::numeric_limits<Real>::quiet_NaN(), infinity = std::numeric_limits<Real>::infinity();
  CHECK(std::isnan(relu(NaN)));
  CHECK(relu(infinity) == infinity);
  CHECK(relu(-infinity) == 0);
  CHECK(relu(std::numeric_limits<Real>::denorm_min()) == std::numeric_limits<Real>::denorm_min());

  CHECK(relu_derivative(NaN) == 0);
  CHECK(relu_derivative(infinity) == 1);
  CHECK(relu_derivative(-infinity) == 0);
  CHECK(relu_derivative(Real(0)) == 0);
  CHECK(relu_derivative(-std::numeric_limits<Real>::denorm_min()) == 0);
  CHECK(relu_derivative(std::numeric_limits<Real>::denorm_min()) == 1);
}

TEST_CASE("the layer ReLU: NaN comes through forwards, and back through X it does not; a NaN in Ȳ does") {
  constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
  using R = ReLU<4, double>;
  R gradient;
  const auto [Y, pullback] = R{}.value_and_pullback({NaN, -1, 2, 3});
  CHECK(std::isnan(Y(0, 0)));
  CHECK(std::isnan(R{}({NaN, -1, 2, 3})(0, 0)));
  CHECK(rows(columns<3>(Y, 1), 0, 1) == Matrix<n, 3, double>{0, 2, 3});
  const auto X_bar = pullback(R::codomain{5, 6, 7, NaN}, gradient);
  CHECK(columns<3>(X_bar, 0) == Matrix<n, 3, double>{0, 0, 7});
  CHECK(std::isnan(X_bar(0, 3)));
}

TEST_CASE("a quotient by 0 is 0, and others are quotients") {
  CHECK(detail::quotient_or_zero(6.0, -4.0) == -1.5);
  CHECK(detail::quotient_or_zero(6.0, 0.0) == 0);
  CHECK(detail::quotient_or_zero(0.0, 0.0) == 0);
}

TEST_CASE("Φ and φ of the standard normal distribution") {
  CHECK(normal_cdf(0.0) == 0.5);
  CHECK(normal_cdf(1.0) == doctest::Approx(0.841344746068543).epsilon(1e-14));
  CHECK(std::abs(normal_cdf(-3.0) - 0.00134989803163009) < 1e-16);
  CHECK(normal_cdf(-1.0) + normal_cdf(1.0) == doctest::Approx(1).epsilon(1e-15));
  CHECK(normal_density(0.0) == doctest::Approx(0.398942280401433).epsilon(1e-14));
  CHECK(normal_density(2.0) == doctest::Approx(0.0539909665131881).epsilon(1e-14));
  CHECK(normal_density(-2.0) == normal_density(2.0));
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(normal_cdf(-infinity) == 0);
  CHECK(normal_cdf(infinity) == 1);
  CHECK(std::isnan(normal_cdf(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("the greatest of some numbers is found wherever it stands, below 0 and if there is one number only") {
  for (std::size_t count = 1; count <= 4; ++count)
    for (std::size_t place = 0; place < count; ++place) {
      CAPTURE(count);
      CAPTURE(place);
      std::vector<double> numbers(count, -3.5);
      numbers[place] = -0.25;
      CHECK(maximum(numbers.data(), count) == -0.25);
      // What follows the last of them does not count.
      numbers.push_back(7);
      CHECK(maximum(numbers.data(), count) == -0.25);
    }
  const float rising[] = {-2, -1, 0, 1, 1e30f}, falling[] = {5, 4, 3};
  CHECK(maximum(rising, 5) == 1e30f);
  CHECK(maximum(falling, 3) == 5);
  CHECK(max_of(Row<3>{2, 7, 3}.row(0)) == 7);
}

}  // namespace tlm::tests::in_numbers
