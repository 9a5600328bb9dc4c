// SPDX-License-Identifier: MIT
// The notebook's two demonstrations of the batch loss ("not the same as average over rows"). The weighted average over
// all tokens of a batch is not the mean of the rows' weighted averages, unless the weights of all rows have equal sums.

#include <cmath>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <vector>

#include <examples/shared/command_line.hpp>
#include <tlm/base/generator.hpp>

namespace {

using Rows = std::vector<std::vector<double>>;

/// Σ_(j,i) ω_ji y_ji / Σ_(j,i) ω_ji
double over_all_tokens(const Rows& y, const Rows& omega) {
  double weighted = 0, sum = 0;
  for (std::size_t j = 0; j < y.size(); ++j)
    for (std::size_t i = 0; i < y[j].size(); ++i) {
      weighted += omega[j][i] * y[j][i];
      sum += omega[j][i];
    }
  return weighted / sum;
}

/// (1/s) Σ_j (Σ_i ω_ji y_ji / Σ_i ω_ji)
double mean_over_rows(const Rows& y, const Rows& omega) {
  double mean = 0;
  for (std::size_t j = 0; j < y.size(); ++j) mean += over_all_tokens({y[j]}, {omega[j]}) / double(y.size());
  return mean;
}

void compare(const char* weights, const Rows& y, const Rows& omega) {
  const double all = over_all_tokens(y, omega), mean = mean_over_rows(y, omega);
  std::cout << weights << ":\n  over all tokens  " << all << "\n  mean over rows   " << mean << "\n  difference       "
            << std::abs(all - mean) << '\n';
}

void print() {
  tlm::Generator generator{1};
  const auto s = std::size_t(generator.integer(1, 88)), n = std::size_t(generator.integer(1, 85));
  Rows y(s, std::vector<double>(n)), omega = y;
  for (auto& row : y)
    for (double& y_ji : row) y_ji = generator.uniform();
  for (auto& row : omega)
    for (double& omega_ji : row) omega_ji = generator.uniform();

  std::cout << std::setprecision(16) << "A batch of " << s << " sequences of " << n << " tokens\n";
  compare("Weights of their own in every row", y, omega);
  for (std::size_t j = 1; j < s; ++j)
    for (std::size_t i = 0; i < n; ++i) omega[j][i] = omega[0][(i + j) % n];
  compare("Weights of the first row, shifted, so that all rows have equal sums", y, omega);
}

}  // namespace

int main(int argc, char** argv) {
  return program::CommandLine{
      "averages", "The loss of a batch is not the mean of the losses of its rows, unless all rows weigh alike."}
      .run(argc, argv, print);
}
