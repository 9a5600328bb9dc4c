// SPDX-License-Identifier: MIT
// Exercise 9: lower triangular is not enough.

#include <cstddef>
#include <iostream>

#include <tlm/tlm.hpp>

// A(X) = I/n is lower triangular for every X with n rows, and B(X) = X is autoregressive.
// Prove that X ↦ A(X)×B(X) is not: find X, of one column, and i with T(X|i) ≠ T(X)|i.
// ---- change this ----
const tlm::Matrix<tlm::n, 1, double> X{tlm::Sequences{3}, {0, 0, 0}};
constexpr std::size_t i = 3;
// ---- to here ----

tlm::Matrix<tlm::n, 1, double> T(tlm::Matrix<tlm::n, 1, double> Y) {
  const double n = double(Y.rows());
  for (std::size_t k = 0; k < Y.rows(); ++k) Y(k, 0) = Y(k, 0) / n;
  return Y;
}

int main() {
  if (i < 1 || i > X.rows()) {
    std::cout << "i is " << i << ", and should be from 1 to " << X.rows() << '\n';
    return 1;
  }
  const auto cut_first = T(X | i), cut_last = T(X) | i;
  for (std::size_t k = 0; k < i; ++k)
    if (cut_first(k, 0) != cut_last(k, 0)) {
      std::cout << "row " << k + 1 << " of T(X|" << i << ") is " << cut_first(k, 0) << ", and of T(X)|" << i
                << " it is " << cut_last(k, 0) << '\n';
      return 0;
    }
  std::cout << "T(X|" << i << ") = T(X)|" << i << " for this X\n";
  return 1;
}
