// SPDX-License-Identifier: MIT
// Exercise 10: a proof by the compiler.

#include <cmath>
#include <cstddef>
#include <iostream>

#include <tlm/tlm.hpp>

// G(X) = X + ReLU(N(X))×W, with N a normalization with the name "N" and W of the name "W". Prove that G is rowwise: write it
// so that the compiler derives it. What declares nothing and has no formula is nothing to the compiler.
using N = tlm::Normalization<"N", 4, double>;
using R = tlm::ReLU<4, double>;
using W = tlm::Times<"W", 4, 4, double>;
// ---- change this ----
using G = tlm::Composition<W, R, N>;
// ---- to here ----

int main() {
  if (!tlm::rowwise<G>) {
    std::cout << "the compiler does not derive that G is rowwise\n";
    return 1;
  }
  if (tlm::parameter_count<G> != 8 + 16) {
    std::cout << "G should have the weights of N and W, which are 24 numbers, and has "
              << tlm::parameter_count<G> << '\n';
    return 1;
  }
  G g;
  tlm::Generator generator{1};
  tlm::initialize_glorot(g, generator);
  N normalization;
  W times;
  times.W = tlm::weight<"W">(g);
  normalization.a = tlm::weight<"N.a">(g);
  normalization.b = tlm::weight<"N.b">(g);
  const tlm::Matrix<tlm::n, 4, double> X{tlm::Sequences{2}, {1, 2, -3, 4, 0, -1, 2, 5}};
  const auto Y = g(X), F = times(R{}(normalization(X)));
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      if (std::abs(Y(i, j) - X(i, j) - F(i, j)) > 1e-12) {
        std::cout << "it is rowwise, but another function: entry (" << i + 1 << ", " << j + 1 << ") is " << Y(i, j)
                  << " and should be " << X(i, j) + F(i, j) << '\n';
        return 1;
      }
}
