#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include <tlm/algebra/layer.hpp>

#include "../support.hpp"

/// One checker of gradients for any layer: pullbacks against central differences, number by number, with their signs.
namespace tlm::tests {

/// The step of the differences. With steps ±h and ±2h the error is of order h⁴ plus rounding of order 10⁻¹⁶/h; and the
/// smaller h is, the fewer are the ReLUs whose kink lies between x − 2h and x + 2h, where there is no derivative to find.
inline constexpr double step = 1e-5;

/// df/dx by central differences: (8(f(x+h) − f(x−h)) − (f(x+2h) − f(x−2h))) / 12h. Leaves x as it was.
template <class Function>
double derivative(const Function& f, double& x, double h = step) {
  const double here = x;
  const auto at = [&](double there) {
    x = there;
    const double value = f();
    x = here;
    return value;
  };
  return (8 * (at(here + h) - at(here - h)) - (at(here + 2 * h) - at(here - 2 * h))) / (12 * h);
}

/// Every number that L depends on: its name, and its derivative by both ways.
struct Comparison {
  struct Entry {
    std::string name;
    double numeric, analytic;
  };
  std::vector<Entry> entries;

  /// Takes in every entry of M, by which ∂L/∂M is said to be dM.
  template <class L, auto n_rows, std::size_t cols>
  void add(const std::string& name, const L& loss, Matrix<n_rows, cols, double>& M,
           const Matrix<n_rows, cols, double>& dM, double h) {
    for (std::size_t i = 0; i < M.rows(); ++i)
      for (std::size_t j = 0; j < cols; ++j)
        entries.push_back(
            {name + "(" + std::to_string(i) + ", " + std::to_string(j) + ")", derivative(loss, M(i, j), h), dM(i, j)});
  }

  /// The entry with the greatest |numeric − analytic| in units of 10⁻⁶·max(|numeric|, |analytic|, 10⁻³‖g‖), where ‖g‖
  /// is the greatest |analytic| of all entries; and that greatest number, which is at most 1 for a right gradient. It is
  /// infinite if there is nothing to compare, or if all derivatives are 0.
  struct Worst {
    double error;
    std::string name;
  };
  Worst worst() const {
    double norm = 0;
    for (const Entry& entry : entries) norm = greater(norm, std::abs(entry.analytic));
    Worst worst{norm > 0 ? 0 : std::numeric_limits<double>::infinity(), "all derivatives, which are 0"};
    for (const Entry& entry : entries) {
      const double unit = 1e-6 * std::max({std::abs(entry.numeric), std::abs(entry.analytic), 1e-3 * norm});
      const double error = std::abs(entry.numeric - entry.analytic) / unit;
      if (greater(worst.error, error) != worst.error)
        worst = {error, entry.name + ": " + std::to_string(entry.numeric) + " by differences, " +
                            std::to_string(entry.analytic) + " by the pullback"};
    }
    return worst;
  }
};

/// ⟨A, B⟩ = Σ_ij a_ij·b_ij.
template <std::size_t cols>
double inner_product(const Matrix<n, cols, double>& A, const Matrix<n, cols, double>& B) {
  double sum = 0;
  for (std::size_t e = 0; e < A.rows() * cols; ++e) sum += A.data()[e] * B.data()[e];
  return sum;
}

/// What the pullback of F at X says about L = ⟨dY, F(X)⟩, compared with differences of L: for every weight of F, and for
/// every entry of X unless X consists of tokens.
template <class F>
Comparison::Worst check_gradient(F layer, typename F::domain X, const typename F::codomain& dY, double h = step) {
  F gradient;
  auto dX = layer.value_and_pullback(X).pullback(dY, gradient);

  const auto L = [&] { return inner_product(dY, layer(X)); };
  Comparison comparison;
  for_each_weight(
      [&](const Name& name, auto& weight, const auto& dW) { comparison.add(name.path(), L, weight, dW, h); }, layer,
      gradient);
  if constexpr (!std::is_same_v<decltype(dX), Nothing>) comparison.add("X", L, X, dX, h);
  return comparison.worst();
}

/// The same at random weights, a random X of these sequences and a random dY.
template <class F>
Comparison::Worst check_gradient(const Sequences& sequences, std::uint64_t seed) {
  Generator generator{seed};
  const F layer = random_layer<F>(generator);
  const auto X = random_rows<typename F::domain>(sequences, generator);
  return check_gradient(layer, X, random_rows<typename F::codomain>(sequences, generator));
}

}  // namespace tlm::tests
