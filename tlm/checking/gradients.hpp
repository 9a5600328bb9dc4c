// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include <tlm/checking/pullbacks.hpp>

/// Pullbacks compared with central differences, number by number, with their signs.
namespace tlm::checking {

/// The step of the differences. With steps ±h and ±2h the error is of order h⁴ plus rounding of order 10⁻¹⁶/h. A ReLU
/// whose kink is between x − 2h and x + 2h has no derivative to find. The smaller h is, the fewer there are.
inline constexpr double difference_step = 1e-5;

/// df/dx by central differences: (8(f(x+h) − f(x−h)) − (f(x+2h) − f(x−2h))) / 12h. Leaves x as it was.
inline double derivative(const std::function<double()>& f, double& x, double h = difference_step) {
  const double here = x;
  const auto at = [&](double there) {
    x = there;
    const double value = f();
    x = here;
    return value;
  };
  return (8 * (at(here + h) - at(here - h)) - (at(here + 2 * h) - at(here - 2 * h))) / (12 * h);
}

/// The failure with the first number of `point` for which |a − b| > 10⁻⁶·max(|a|, |b|, 10⁻³‖g‖), or one of a and b is
/// NaN. Here a is the derivative of L with respect to it by differences, and b the one by the pullback: the number in
/// its place in `pulled_back`. ‖g‖ is the maximum of all |a| and |b|. It is a failure too if all derivatives are 0,
/// because then nothing has been compared.
inline std::optional<Failure> derivatives_differ(Failure found, const std::function<double()>& L,
                                                 const std::vector<NamedWeight<double>>& point,
                                                 const std::vector<NamedWeight<double>>& pulled_back) {
  auto by_differences = point;
  std::vector<std::vector<double>> numbers;
  double norm = 0;
  for (std::size_t k = 0; k < point.size(); ++k) {
    numbers.emplace_back();
    for (std::size_t e = 0; e < point[k].size(); ++e) {
      numbers[k].push_back(derivative(L, point[k].numbers[e]));
      norm = std::max({norm, std::abs(numbers[k][e]), std::abs(pulled_back[k].numbers[e])});
    }
    by_differences[k].numbers = numbers[k].data();
  }
  found.left.label = "by differences the derivative is";
  found.right.label = "by the pullback it is";
  const auto close = [norm](double a, double b) {
    return std::abs(a - b) <= 1e-6 * std::max({std::abs(a), std::abs(b), 1e-3 * norm});
  };
  if (auto differs = first_difference(
          found, by_differences, [&](std::size_t k, std::size_t e) { return pulled_back[k].numbers[e]; }, close))
    return differs;
  if (norm > 0) return std::nullopt;
  found.left = found.right = {};
  found.remark = "all derivatives are 0: nothing has been compared";
  return found;
}

/// The derivatives of L = ⟨Ȳ, T(X)⟩ by the pullback of T, at a random X and random weights, compared with differences
/// of L. That is done for every weight, and for X unless it consists of tokens. If all derivatives are 0, as where
/// every ReLU rests, other numbers are drawn. Zeros and equal rows are left out: a ReLU at 0 has no derivative.
inline std::optional<Failure> gradient_fails(const Operation<double>& T, std::uint64_t seed,
                                             const std::vector<Sequences>& stacks, const Limits& limits = {}) {
  const auto on = [&](const Sequences& sequences, Generator& generator, Draw kind) -> std::optional<Failure> {
    std::optional<Failure> found;
    for (int draws = 0; draws < 10 && kind == Draw::any; ++draws) {
      const auto layer = drawn(T, generator);
      auto X = draw_input(T, sequences, generator, limits);
      const auto result = layer->differentiated(X);
      const auto Y_bar = draw_rows<double>(T.codomain, result.value.sequences, generator);
      const PulledBack<double> pulled_back{T.another(), result, Y_bar};
      const auto L = [&] {
        const auto Y = (*layer)(X);
        return std::inner_product(Y.numbers.begin(), Y.numbers.end(), Y_bar.numbers.begin(), 0.0);
      };
      found = derivatives_differ({.claim = "the pullback agrees with central differences"}, L, coordinates(*layer, X),
                                 pulled_back.tables);
      const bool nothing_compared = found && found->left.label.empty();
      if (!nothing_compared) break;
    }
    return found;
  };
  return on_stacks(T, seed, stacks, on);
}

/// The same on stacks of one row, and of two and three rows.
inline std::optional<Failure> gradient_fails(const Operation<double>& T, std::uint64_t seed,
                                             const Limits& limits = {}) {
  return gradient_fails(T, seed, stacks(limits, {{1}, {2, 3}}), limits);
}

}  // namespace tlm::checking
