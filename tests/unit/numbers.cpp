// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <tlm/layers/relu.hpp>

#include "../support.hpp"

using namespace tlm;
using namespace tlm::tests;

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

TEST_CASE("Φ and φ of the standard normal distribution, far from 0 as well") {
  CHECK(normal_cdf(0.0) == 0.5);
  CHECK(normal_cdf(1.0) == doctest::Approx(0.841344746068543).epsilon(1e-14));
  CHECK(normal_cdf(-10.0) == doctest::Approx(7.61985302416052e-24).epsilon(1e-13));
  CHECK(normal_cdf(-1.0) + normal_cdf(1.0) == doctest::Approx(1).epsilon(1e-15));
  CHECK(normal_density(0.0) == doctest::Approx(0.398942280401433).epsilon(1e-14));
  CHECK(normal_density(2.0) == doctest::Approx(0.0539909665131881).epsilon(1e-14));
  CHECK(normal_density(-2.0) == normal_density(2.0));
  for (float x = -14; x < 14; x += 0.001f) {
    const double difference = std::abs(normal_cdf(x) - normal_cdf(double(x)));
    REQUIRE(difference < 2.5e-7);
    if (x < 0 && x > -13) REQUIRE(difference < 6e-6 * normal_cdf(double(x)));
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(normal_cdf(-infinity) == 0);
  CHECK(normal_cdf(infinity) == 1);
  CHECK(std::isnan(normal_cdf(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE(
    "exponential is exp: to 1.5 units in the last place of every 509th float, and beyond what a float can be, 0 and "
    "∞") {
  double farthest = 0;
  const auto last_place = [](float y) { return double(std::nextafter(y, std::numeric_limits<float>::infinity())) - y; };
  for (std::uint32_t bits = 0; bits <= std::numeric_limits<std::uint32_t>::max() - 509; bits += 509) {
    const auto x = std::bit_cast<float>(bits);
    const float y = exponential(x), rounded = std::exp(x);
    if (std::isnan(x) || std::isinf(rounded) || std::isinf(y)) {
      REQUIRE((std::isnan(x) ? std::isnan(y) : y == rounded));
      continue;
    }
    farthest = std::max(farthest, std::abs(y - std::exp(double(x))) / last_place(rounded));
  }
  CHECK(farthest < 1.5);
  CHECK(exponential(-1e30f) == 0);
  CHECK(exponential(0.0f) == 1);
  CHECK(exponential(-0.7) == std::exp(-0.7));  // of a double
}

TEST_CASE("the greatest of some numbers is found wherever it stands, below 0 and if there is one number only") {
  for (std::size_t count = 1; count <= 4; ++count)
    for (std::size_t place = 0; place < count; ++place) {
      CAPTURE(count);
      CAPTURE(place);
      std::vector<double> numbers(count, -3.5);
      numbers[place] = -0.25;
      CHECK(maximum(numbers.data(), count) == -0.25);
      // What stands behind the last of them does not count.
      numbers.push_back(7);
      CHECK(maximum(numbers.data(), count) == -0.25);
    }
  const float rising[] = {-2, -1, 0, 1, 1e30f}, falling[] = {5, 4, 3};
  CHECK(maximum(rising, 5) == 1e30f);
  CHECK(maximum(falling, 3) == 5);
}
