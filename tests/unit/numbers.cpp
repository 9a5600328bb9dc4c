// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include <tlm/checking/prime_field.hpp>
#include <tlm/layers/gelu.hpp>
#include <tlm/layers/relu.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/numbers/normal_distribution.hpp>
#include <tlm/numbers/rows.hpp>

#include "../support.hpp"

namespace tlm::tests::in_numbers {

using checking::PrimeField;

namespace {

/// The bits of y and of z are the same.
template <class Real>
bool same_bits_of(const std::vector<Real>& y, const std::vector<Real>& z) {
  return std::memcmp(y.data(), z.data(), y.size() * sizeof(Real)) == 0;
}

/// −2.3, −2.2, …: numbers that are no integers, of either sign.
template <class Real>
std::vector<Real> some_numbers(std::size_t count) {
  std::vector<Real> x(count);
  for (std::size_t j = 0; j < count; ++j) x[j] = Real(-2.3) + Real(0.1) * Real(j);
  return x;
}

/// f(x) of the first `count` of these numbers, as a vector that begins `before` numbers after the beginning of its
/// storage.
template <class Real, class F>
std::vector<Real> of_the_first(std::size_t count, std::size_t before, const F& f) {
  std::vector<Real> x = some_numbers<Real>(before), numbers = some_numbers<Real>(count);
  x.insert(x.end(), numbers.begin(), numbers.end());
  std::vector<Real> y(before + count);
  auto to = detail::as_vector(y.data() + before, count);
  to = f(detail::as_vector(std::as_const(x).data() + before, count));
  return {y.begin() + std::ptrdiff_t(before), y.end()};
}

}  // namespace

TEST_CASE_TEMPLATE("ReLU and its layer: NaN ↦ NaN, ∞ ↦ ∞; the derivative is 1 above 0, and 0 elsewhere and at NaN",
                   Real, float, double) {
  constexpr Real NaN = std::numeric_limits<Real>::quiet_NaN(), infinity = std::numeric_limits<Real>::infinity(),
                 least = std::numeric_limits<Real>::denorm_min();
  const std::vector<Real> x{NaN, infinity, -infinity, 0, -least, least, 2}, y{NaN, infinity, 0, 0, 0, least, 2},
      slopes{0, 1, 0, 0, 0, 1, 1};
  using R = ReLU<1, Real>;
  R gradient;
  auto [Y, pullback] = R{}.value_and_pullback(typename R::domain{x});
  const auto X_bar = pullback(typename R::codomain{Y.sequences(), Real(1)}, gradient);
  CHECK(std::isnan(relu(x[0])));
  CHECK(std::isnan(Y(0, 0)));
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i]);
    if (i > 0) CHECK((relu(x[i]) == y[i] && Y(i, 0) == y[i]));
    CHECK((relu_derivative(x[i]) == slopes[i] && X_bar(i, 0) == slopes[i]));
  }
  CHECK(std::isnan(pullback(typename R::codomain{Y.sequences(), NaN}, gradient)(6, 0)));
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

TEST_CASE_TEMPLATE("x = e and x += e are what xt::noalias(x) = e and = x + e are", Real, float, double) {
  for (std::size_t count = 1; count <= 40; ++count) {
    CAPTURE(count);
    const auto numbers = some_numbers<Real>(count);
    const auto x = detail::as_vector(numbers.data(), count);
    std::vector<Real> here(count), plainly(count);
    auto y = detail::as_vector(here.data(), count);
    auto z = xt::adapt(plainly.data(), count, xt::no_ownership());
    const Real c(1.25);
    y = (x - c) / (x * x + Real(1)) * x;
    xt::noalias(z) = (x - c) / (x * x + Real(1)) * x;
    CHECK(same_bits_of(here, plainly));
    y = xt::where(x < Real(0), Real(0), sqrt(xt::abs(x)));
    xt::noalias(z) = xt::where(x < Real(0), Real(0), sqrt(xt::abs(x)));
    CHECK(same_bits_of(here, plainly));
    y += c * x;
    xt::noalias(z) = z + c * x;
    y += y;
    xt::noalias(z) = z + z;
    CHECK(same_bits_of(here, plainly));
    y = exp(x);
    for (std::size_t j = 0; j < count; ++j)
      CHECK(std::abs(y[j] - std::exp(x[j])) <= 2 * std::numeric_limits<Real>::epsilon() * std::exp(x[j]));
  }
}

TEST_CASE_TEMPLATE("the bits of an entry depend neither on how many there are nor on where it is", Real, float,
                   double) {
  const auto check = [](const auto& f) {
    const auto whole = of_the_first<Real>(50, 0, f);
    for (std::size_t before = 0; before < 3; ++before)
      for (std::size_t count = 1; count <= 50; ++count)
        CHECK(
            same_bits_of(of_the_first<Real>(count, before, f), {whole.begin(), whole.begin() + std::ptrdiff_t(count)}));
  };
  check([](const auto& x) { return exp(x); });
  check([](const auto& x) { return tanh(x); });
  check([](const auto& x) { return xt::erf(x) / (x + Real(3)); });
  const auto of_layer = [&](const auto& layer) {
    const Matrix<n, 1, Real> all = layer(Matrix<n, 1, Real>{some_numbers<Real>(50)});
    for (std::size_t count = 1; count <= 50; ++count) {
      const auto first = layer(Matrix<n, 1, Real>{some_numbers<Real>(count)});
      for (std::size_t i = 0; i < count; ++i) CHECK(std::memcmp(&first(i, 0), &all(i, 0), sizeof(Real)) == 0);
    }
  };
  of_layer(GELU<1, Real>{});
  of_layer(TanhGELU<1, Real>{});
}

TEST_CASE_TEMPLATE("NaN stays NaN, and exp is 0 and ∞ where std::exp is", Real, float, double) {
  constexpr Real NaN = std::numeric_limits<Real>::quiet_NaN(), infinity = std::numeric_limits<Real>::infinity();
  Row<4, Real> x{NaN, -infinity, infinity, 1000};
  auto y = x.row(0);
  y = exp(y);
  CHECK(std::isnan(y[0]));
  CHECK(y[1] == 0);
  CHECK(y[2] == infinity);
  CHECK(y[3] == infinity);
}

TEST_CASE("a vector refers to its entries: copies of it to the same ones, and what is assigned are entries") {
  Matrix<n, 2> X{1, 2, 3, 4};
  auto x = X.row(0), the_same = x;
  the_same = x + x;
  CHECK(X == Matrix<n, 2>{2, 4, 3, 4});
  x = X.row(1);
  CHECK(X == Matrix<n, 2>{3, 4, 3, 4});
  const Row<2> b{10, 20};
  X.row(1) += b.row(0);
  X.row(0) -= X.row(1);
  CHECK(X == Matrix<n, 2>{-10, -20, 13, 24});
  X.entries() = X.entries() * 2.0f;
  CHECK(X == Matrix<n, 2>{-20, -40, 26, 48});
}

TEST_CASE("what is not evaluated at once means what xtensor says, also where it reads what is written") {
  Row<3> x{1, 2, 3};
  auto y = x.row(0);
  y = y - xt::sum(y);
  CHECK(x == Row<3>{-5, -4, -3});
  y = y * 0.5;  // in double, as xtensor says
  CHECK(x == Row<3>{-2.5, -2, -1.5});
}

TEST_CASE("a vector with steps between its entries, and integers, which are divided") {
  const std::vector<float> numbers{0, 1, 2, 3, 4, 5, 6};
  Row<3> x;
  x.row(0) = xt::adapt(numbers, std::array<std::size_t, 1>{3}, std::array<std::ptrdiff_t, 1>{3});
  CHECK(x == Row<3>{0, 3, 6});
  Row<3, int> a{7, 8, 9};
  const Row<3, int> b{2, 3, 4};
  a.row(0) = a.row(0) / b.row(0);
  CHECK(a == Row<3, int>{3, 2, 2});
}

TEST_CASE("an expression of another size is refused, and nothing is written") {
  Row<3> x{1, 2, 3};
  const std::vector<float> numbers(4);
  const auto one = detail::as_vector(numbers.data(), 1), four = detail::as_vector(numbers.data(), 4);
  auto y = x.row(0);
  const auto refused = [](const auto& action) {
    CHECK(refusal<std::invalid_argument>(action) == "this is no expression of 3 entries");
  };
  refused([&] { y = y + one; });
  refused([&] { y = four; });
  refused([&] { y = xt::cast<double>(four); });
  refused([&] { y += one; });
  refused([&] { y -= one; });
  CHECK_THROWS_AS(sum_of(four * one), std::invalid_argument);
  CHECK(x == Row<3>{1, 2, 3});
}

TEST_CASE_TEMPLATE("the sum, the mean and the greatest of any number of entries", Real, float, double) {
  for (std::size_t count = 1; count <= 50; ++count) {
    const auto numbers = some_numbers<Real>(count);
    const auto x = detail::as_vector(numbers.data(), count);
    double sum = 0, squares = 0;
    for (const Real x_j : numbers) sum += x_j, squares += double(x_j) * double(x_j);
    const double tolerance = 200 * double(std::numeric_limits<Real>::epsilon());
    CHECK(std::abs(sum_of(x) - sum) < tolerance);
    CHECK(std::abs(sum_of(x * x) - squares) < tolerance);
    CHECK(std::abs(mean_of(x) - sum / double(count)) < tolerance);
    CHECK(max_of(x) == numbers.back());
    // The greatest is found wherever it stands, and what follows the last of them does not count.
    for (std::size_t place = 0; place < count; ++place) {
      std::vector<Real> others(count, Real(-3.5));
      others[place] = Real(-0.25);
      others.push_back(7);
      CHECK(maximum(others.data(), count) == Real(-0.25));
    }
  }
}

TEST_CASE("the same expressions run over other numbers") {
  const Row<3, PrimeField> a{PrimeField(2), PrimeField(3), PrimeField(5)};
  Row<3, PrimeField> b;
  const auto x = a.row(0);
  auto y = b.row(0);
  y = x * x - PrimeField(1);
  CHECK(b(0, 0).residue() == 3);
  CHECK(b(0, 1).residue() == 8);
  CHECK(b(0, 2).residue() == 24);
  CHECK(sum_of(x * y).residue() == 6 + 24 + 120);
  y = exp(x);
  CHECK(same(b(0, 2), exp(PrimeField(5))));
}

}  // namespace tlm::tests::in_numbers
