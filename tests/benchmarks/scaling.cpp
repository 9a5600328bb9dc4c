// SPDX-License-Identifier: MIT
// How time and memory of a training step grow with one of its numbers. The others stay: d_model 128, d_ff = 4·d_model,
// 2 blocks, 4 heads, 4 sequences of 128 tokens, 1 thread.
//
// A power is fitted to the measured values, by least squares between the logarithms. Another one is fitted to what is
// expected. For the time, that is the number of operations in products, with the visible half of attention. For the
// memory, it is the count of numbers that a step keeps.

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <tlm/all.hpp>

#include "measure.hpp"
#include "models.hpp"
#include "products.hpp"
#include "steps.hpp"

using namespace tlm;
using measure::row, measure::rounded;

namespace {

/// The model by its width and its depth.
constexpr Config with(std::size_t d_model, std::size_t n_layers) {
  return {
      .vocab_size = 256, .d_model = d_model, .d_ff = 4 * d_model, .n_layers = n_layers, .n_heads = 4, .max_len = 1025};
}

/// What is measured of a step, and what is expected.
struct Point {
  double value;  ///< Of the number that varies.
  double ms, megabytes, operations, expected_megabytes;
};

template <Config c = with(128, 2)>
Point measured(std::size_t value, std::size_t count, std::size_t length, std::size_t threads = 1) {
  using Model = TransformerLM<c>;
  steps::Steps<Model> training{count, length, threads};
  const double bytes = double(training.allocated().bytes);
  const auto [ms] = measure::medians(31, [&] { training.run(); });
  // A step keeps the weights and the gradient, and in every block for each token several rows. Of width d_model: what
  // N_ca and N_ff have standardized, the factors of W_Q, W_K, W_V, W_O and A, and Q, K and V. Of width d_ff: two rows.
  // Each head has a square, too.
  const double kept =
      double(c.n_layers) * double(count * length) * double(10 * c.d_model + 2 * c.d_ff + c.n_heads * length);
  return {double(value), ms, bytes / 1e6, products::of(c, count, length).operations() / double(threads),
          4e-6 * (double((1 + threads) * parameter_count<Model>) + kept)};
}

/// The exponent of the power of the value that fits another number best.
double exponent(const std::vector<Point>& points, double Point::*number) {
  double x = 0, y = 0, xx = 0, xy = 0;  // sums of logarithms, and of their products
  for (const Point& point : points) {
    const double log_x = std::log(point.value), log_y = std::log(point.*number);
    x += log_x;
    y += log_y;
    xx += log_x * log_x;
    xy += log_x * log_y;
  }
  const double n = double(points.size());
  return (n * xy - x * y) / (n * xx - x * x);
}

}  // namespace

int main() {
  row({"of", "", "ms", "MB", "GFLOP", "expected MB"});
  std::vector<std::vector<std::string>> exponents{
      {"exponent of", "from", "to", "time", "of operations", "memory", "of numbers kept"}};
  const auto add = [&](const std::string& name, const std::vector<Point>& points) {
    for (const Point& point : points)
      row({name, rounded(point.value, 0), rounded(point.ms, 3), rounded(point.megabytes, 1),
           rounded(point.operations / 1e9, 3), rounded(point.expected_megabytes, 1)});
    exponents.push_back({name, rounded(points.front().value, 0), rounded(points.back().value, 0)});
    for (const auto number : {&Point::ms, &Point::operations, &Point::megabytes, &Point::expected_megabytes})
      exponents.back().push_back(rounded(exponent(points, number), 2));
  };
  add("n", {measured(32, 4, 32), measured(64, 4, 64), measured(128, 4, 128), measured(256, 4, 256),
            measured(512, 4, 512), measured(1024, 4, 1024)});
  add("d_model", {measured<with(64, 2)>(64, 4, 128), measured(128, 4, 128), measured<with(256, 2)>(256, 4, 128),
                  measured<with(512, 2)>(512, 4, 128)});
  add("n_layers", {measured<with(128, 1)>(1, 4, 128), measured(2, 4, 128), measured<with(128, 4)>(4, 4, 128),
                   measured<with(128, 8)>(8, 4, 128)});
  add("sequences",
      {measured(1, 1, 128), measured(2, 2, 128), measured(4, 4, 128), measured(8, 8, 128), measured(16, 16, 128)});
  add("threads", {measured(1, 4, 128, 1), measured(2, 4, 128, 2)});
  row({});
  for (const auto& cells : exponents) row(cells);
}
