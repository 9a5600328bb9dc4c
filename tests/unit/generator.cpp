// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <tlm/base/generator.hpp>
#include <tlm/base/hash.hpp>

#include "../printing.hpp"

namespace tlm::tests::in_generator {

namespace {

/// Whether 60,000 draws of 1, …, 6 are within 5 standard deviations of 10,000 each.
bool fair_die(const std::function<int()>& draw) {
  std::vector<int> counts(7);
  for (int i = 0; i < 60'000; ++i) ++counts.at(std::size_t(draw()));
  const double deviation = std::sqrt(60'000 * (1.0 / 6) * (5.0 / 6));
  for (std::size_t face = 1; face <= 6; ++face)
    if (std::abs(counts[face] - 10'000) > 5 * deviation) return false;
  return counts[0] == 0;
}

}  // namespace

// The numbers of the standard's mersenne_twister_engine, computed by another implementation of it.
TEST_CASE("the first numbers of a seed are the same everywhere") {
  Generator uniform{1};
  CHECK(uniform.uniform() == 0.13387664401253263);
  CHECK(uniform.uniform() == 0.13640703636619722);
  CHECK(uniform.uniform() == 0.4512149038445381);

  Generator integer{1};
  std::vector<int> drawn;
  for (int i = 0; i < 10; ++i) drawn.push_back(integer.integer(1, 10));
  CHECK(drawn == std::vector<int>{9, 3, 1, 7, 5, 10, 9, 6, 9, 5});
}

TEST_CASE("uniform() is from [0, 1), with mean ½") {
  Generator generator{2};
  std::vector<double> x(100'000);
  std::generate(x.begin(), x.end(), [&] { return generator.uniform(); });
  const auto [least, greatest] = std::minmax_element(x.begin(), x.end());
  CHECK((*least >= 0 && *least < 1e-4));
  CHECK((*greatest < 1 && *greatest > 1 - 1e-4));
  // The standard deviation of the mean is 1/√(12·10⁵) = 9.1e-4.
  CHECK(std::abs(std::accumulate(x.begin(), x.end(), 0.0) / 100'000 - 0.5) < 5e-3);
}

TEST_CASE("integer() is uniform over first, …, last") {
  Generator generator{3};
  CHECK(fair_die([&] { return generator.integer(1, 6); }));
  // The same count finds a wrong die: one where a number above the last becomes the first.
  CHECK_FALSE(fair_die([&] { return generator.integer(0, 6) % 6 + 1; }));
}

TEST_CASE("integer() reaches both ends of a small range, and both signs of the largest") {
  Generator generator{4};
  CHECK(generator.integer(7, 7) == 7);
  bool negative = false, positive = false, seen[2]{};
  for (int i = 0; i < 100; ++i) {
    const int whole = generator.integer(std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
    (whole < 0 ? negative : positive) = true;
    const int bit = generator.integer(-1, 0);
    REQUIRE((bit == -1 || bit == 0));
    seen[bit + 1] = true;
  }
  CHECK((negative && positive && seen[0] && seen[1]));
  CHECK_THROWS_WITH_AS(generator.integer(2, 1), "there is no integer from 2 to 1", std::invalid_argument);
}

TEST_CASE("a generator goes on from its state") {
  Generator generator{7};
  for (int i = 0; i < 1000; ++i) generator.integer(1, 3);
  generator.uniform();
  CHECK(generator.state().seed == 7);
  CHECK(generator.state().drawn >= 1001);
  Generator other{generator.state()}, from_the_start{7};
  CHECK(from_the_start.uniform() != Generator{generator.state()}.uniform());
  for (int i = 0; i < 1000; ++i) CHECK(other.uniform() == generator.uniform());
  constexpr Generator::State too_far{1, (std::uint64_t(1) << 40) + 1};
  CHECK_THROWS_WITH_AS(Generator{too_far},
                       "a generator that has drawn 1099511627777 numbers is not resumed: at most 2^40 are drawn again",
                       std::invalid_argument);
}

TEST_CASE("numbers are mixed as SplitMix64 does, and bytes one after the other") {
  // What SplitMix64 draws from the seed 0: it mixes the multiples of this number.
  const std::array<std::uint64_t, 4> drawn{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f,
                                           0xf88bb8a8724c81ec};
  for (std::uint64_t k = 0; k < drawn.size(); ++k) CHECK(mixed(k * 0x9e3779b97f4a7c15) == drawn[k]);
  const std::array bytes{std::byte{1}, std::byte{255}};
  CHECK(mixed(7, bytes) == mixed(mixed(7 ^ 1) ^ 255));
  CHECK(mixed(7, std::array<std::byte, 0>{}) == 7);
}

}  // namespace tlm::tests::in_generator
