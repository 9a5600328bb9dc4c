// SPDX-License-Identifier: MIT
// The article's table of the initial positional encoding, for M = 3 and d_model = 6: first its formulas, then the
// numbers in the layer.

#include <cstddef>
#include <iomanip>
#include <iostream>
#include <string>

#include <examples/shared/command_line.hpp>
#include <tlm/layers/positional_encoding.hpp>

namespace {

void print() {
  constexpr std::size_t max_len = 3, d_model = 6;
  for (std::size_t pos = 1; pos <= max_len; ++pos) {
    for (std::size_t column = 0; column < d_model; ++column)
      std::cout << (column % 2 == 0 ? "sin(" : "cos(") << pos << "/10000^(" << column / 2 * 2 << "/" << d_model << "))"
                << (column + 1 < d_model ? "  " : "\n");
  }
  const auto PE = tlm::PositionalEncoding<max_len, d_model, double>::sinusoidal();
  std::cout << '\n' << std::fixed << std::setprecision(6);
  for (std::size_t i = 0; i < max_len; ++i)
    for (std::size_t j = 0; j < d_model; ++j) std::cout << std::setw(18) << PE(i, j) << (j + 1 < d_model ? "  " : "\n");
}

}  // namespace

int main(int argc, char** argv) {
  return program::CommandLine{"positional_encoding",
                              "The article's table of sines and cosines, as formulas and as numbers."}
      .run(argc, argv, print);
}
