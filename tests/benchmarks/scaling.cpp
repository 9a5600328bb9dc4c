// SPDX-License-Identifier: MIT
// How time and memory of a training step grow with one of its numbers. The others stay: d_model 128, d_ff = 4·d_model,
// 2 blocks, 4 heads, 4 sequences of 128 tokens, 1 thread.
//
// A power is fitted to the measured values, by least squares between the logarithms. Another one is fitted to what is
// expected. For the time, that is the number of operations in products, with the visible half of attention. For the
// memory, it is the count of numbers that a step keeps.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <tlm/all.hpp>

#include "models.hpp"
#include "products.hpp"
#include "steps.hpp"
#include "table.hpp"
#include "timing.hpp"

using namespace tlm;
using table::rounded;

namespace {

/// The model by its width and its depth.
constexpr Config with(std::size_t d_model, std::size_t n_layers) {
  return {
      .vocab_size = 256, .d_model = d_model, .d_ff = 4 * d_model, .n_layers = n_layers, .n_heads = 4, .max_len = 1025};
}

constexpr Config usual = with(128, 2);

/// What is measured of a step, and what is expected.
struct Point {
  double value;  ///< Of the number that varies.
  double ms, megabytes, operations, expected_megabytes;
};

/// The numbers that a step keeps, in megabytes. They are the weights and the gradient, and in every block for each
/// token several rows. Of width d_model: what N_ca and N_ff have standardized, the factors of W_Q, W_K, W_V, W_O and A,
/// and Q, K and V. Of width d_ff: two rows. Each head has a square, too.
template <Config c>
double expected_megabytes(std::size_t count, std::size_t length, std::size_t threads) {
  const double kept =
      double(c.n_layers) * double(count * length) * double(10 * c.d_model + 2 * c.d_ff + c.n_heads * length);
  return 4e-6 * (double(1 + threads) * double(parameter_count<TransformerLM<c>>) + kept);
}

template <Config c>
Point measure(double value, std::size_t count, std::size_t length, std::size_t threads) {
  steps::Steps<TransformerLM<c>> training{count, length, threads};
  const double estimate = timing::milliseconds([&] { training.run(1); });
  const auto steps_a_round = std::size_t(std::max(1.0, 50 / estimate));
  std::vector<double> rounds;
  for (int round = 0; round < 9; ++round)
    rounds.push_back(timing::milliseconds([&] { training.run(steps_a_round); }) / double(steps_a_round));
  return {value, timing::median(rounds), double(training.allocated().bytes) / 1e6,
          products::of(c, count, length).operations() / double(threads), expected_megabytes<c>(count, length, threads)};
}

/// The power of the value by which a number of the points grows.
double exponent(const std::vector<Point>& points, double Point::*number) {
  double mean_x = 0, mean_y = 0, products = 0, squares = 0;
  for (const Point& point : points) {
    mean_x += std::log(point.value) / double(points.size());
    mean_y += std::log(point.*number) / double(points.size());
  }
  for (const Point& point : points) {
    const double x = std::log(point.value) - mean_x;
    products += x * (std::log(point.*number) - mean_y);
    squares += x * x;
  }
  return products / squares;
}

/// Prints a row for each point, and keeps that of the exponents for the table that follows.
struct Results {
  std::vector<std::vector<std::string>> exponents;

  void add(const std::string& name, const std::vector<Point>& those) {
    for (const Point& point : those)
      table::row({name, rounded(point.value, 0), rounded(point.ms, 3), rounded(point.megabytes, 1),
                  rounded(point.operations / 1e9, 3), rounded(point.expected_megabytes, 1)});
    exponents.push_back({name, rounded(those.front().value, 0), rounded(those.back().value, 0),
                         rounded(exponent(those, &Point::ms), 2), rounded(exponent(those, &Point::operations), 2),
                         rounded(exponent(those, &Point::megabytes), 2),
                         rounded(exponent(those, &Point::expected_megabytes), 2)});
  }
};

/// The point of each value.
template <class Measure>
std::vector<Point> for_each(const std::vector<std::size_t>& values, const Measure& measure) {
  std::vector<Point> points;
  for (const std::size_t value : values) points.push_back(measure(value));
  return points;
}

}  // namespace

int main() {
  table::row({"of", "", "ms", "MB", "GFLOP", "expected MB"});
  Results results;
  results.add(
      "n", for_each({32, 64, 128, 256, 512, 1024}, [](std::size_t n) { return measure<usual>(double(n), 4, n, 1); }));
  results.add("d_model", {measure<with(64, 2)>(64, 4, 128, 1), measure<usual>(128, 4, 128, 1),
                          measure<with(256, 2)>(256, 4, 128, 1), measure<with(512, 2)>(512, 4, 128, 1)});
  results.add("n_layers", {measure<with(128, 1)>(1, 4, 128, 1), measure<usual>(2, 4, 128, 1),
                           measure<with(128, 4)>(4, 4, 128, 1), measure<with(128, 8)>(8, 4, 128, 1)});
  results.add("sequences", for_each({1, 2, 4, 8, 16},
                                    [](std::size_t count) { return measure<usual>(double(count), count, 128, 1); }));
  results.add("threads",
              for_each({1, 2}, [](std::size_t threads) { return measure<usual>(double(threads), 4, 128, threads); }));
  table::next();
  table::row({"exponent of", "from", "to", "time", "of operations", "memory", "of numbers kept"});
  for (const auto& cells : results.exponents) table::row(cells);
}
