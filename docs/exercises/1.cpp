// SPDX-License-Identifier: MIT
// Exercise 1: predict what each operation is.

#include <cstddef>
#include <iostream>
#include <string_view>

#include <tlm/checking/check.hpp>
#include <tlm/tlm.hpp>

enum Is { rowwise, only_autoregressive, neither };

// ---- change this ----
constexpr Is minus_mean_of_all_rows = rowwise;
constexpr Is mean_of_the_rows_so_far = rowwise;
constexpr Is minus_mean_of_its_own_row = rowwise;
constexpr Is times_its_position = rowwise;
// ---- to here ----

/// The four operations, on rows of two numbers.
enum class Which { minus_mean_of_all_rows, mean_of_the_rows_so_far, minus_mean_of_its_own_row, times_its_position };

template <Which which, class Real>
struct Operation {
  using declared = tlm::is::Unrestricted;
  using domain = tlm::Matrix<tlm::n, 2, Real>;
  using codomain = domain;

  codomain operator()(const domain& X) const {
    codomain Y = X;
    Real sums[2] = {Real(0), Real(0)}, means[2] = {Real(0), Real(0)};
    for (std::size_t i = 0; i < X.rows(); ++i)
      for (std::size_t j = 0; j < 2; ++j) means[j] += X(i, j) / Real(X.rows());
    for (std::size_t i = 0; i < X.rows(); ++i)
      for (std::size_t j = 0; j < 2; ++j) {
        sums[j] += X(i, j);
        if (which == Which::minus_mean_of_all_rows) Y(i, j) = X(i, j) - means[j];
        if (which == Which::mean_of_the_rows_so_far) Y(i, j) = sums[j] / Real(i + 1);
        if (which == Which::minus_mean_of_its_own_row) Y(i, j) = X(i, j) - (X(i, 0) + X(i, 1)) / Real(2);
        if (which == Which::times_its_position) Y(i, j) = X(i, j) * Real(i + 1);
      }
    return Y;
  }

  static constexpr void weights(auto&&, auto&) {}
};

template <Which which>
struct Of {
  template <class Real>
  using Layer = Operation<which, Real>;
};

/// Whether it is what was predicted, by the checks.
template <Which which>
bool marked(std::string_view name, Is predicted) {
  const auto as_rowwise = tlm::checking::verdict_on<Of<which>::template Layer>(name, tlm::checking::Claim::rowwise);
  const auto as_autoregressive =
      tlm::checking::verdict_on<Of<which>::template Layer>(name, tlm::checking::Claim::autoregressive);
  const Is is = as_rowwise.holds() ? rowwise : as_autoregressive.holds() ? only_autoregressive : neither;
  if (is == predicted) {
    std::cout << name << ": as you predicted\n";
    return true;
  }
  std::cout << name << ": not as you predicted";
  if (is == neither) std::cout << as_autoregressive;
  if (is == only_autoregressive) std::cout << as_rowwise;
  std::cout << '\n';
  return false;
}

int main() {
  bool right = marked<Which::minus_mean_of_all_rows>("X_i − mean of all rows", minus_mean_of_all_rows);
  right &= marked<Which::mean_of_the_rows_so_far>("mean of X_1, …, X_i", mean_of_the_rows_so_far);
  right &= marked<Which::minus_mean_of_its_own_row>("X_i − mean of its numbers", minus_mean_of_its_own_row);
  right &= marked<Which::times_its_position>("i·X_i", times_its_position);
  return right ? 0 : 1;
}
