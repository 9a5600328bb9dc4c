// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <tlm/checking/pullbacks.hpp>

/// Pullbacks compared with central differences, with their signs, along a direction of every table of numbers. Where
/// these differ, they are compared number by number.
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

/// What some L depends on, and the derivative of L with respect to it, computed in both ways.
struct Comparison {
  /// A number, or a direction, and the derivative of L with respect to it, computed in both ways.
  struct Entry {
    std::string name;
    double by_differences, by_pullback;
  };
  std::vector<Entry> entries;

  /// Adds a direction in each of these tables of numbers, which moves every number, and the derivatives that the
  /// pullback gives in the other tables. If the two ways differ, adds every number of that table first.
  void add(const std::function<double()>& L, const std::vector<NamedWeight<double>>& point,
           const std::vector<NamedWeight<double>>& pulled_back) {
    Generator generator{1};
    for (std::size_t k = 0; k < pulled_back.size(); ++k) {
      const NamedWeight<double>& numbers = point[k];
      const double* expected = pulled_back[k].numbers;
      const std::vector<double> here(numbers.begin(), numbers.end());
      std::vector<double> v;
      double by_pullback = 0, t = 0;
      for (std::size_t e = 0; e < here.size(); ++e) {
        v.push_back(2 * generator.integer(0, 1) - 1);
        by_pullback += v[e] * expected[e];
      }
      const auto along_v = [&] {
        for (std::size_t e = 0; e < here.size(); ++e) numbers.numbers[e] = here[e] + t * v[e];
        return L();
      };
      const Entry direction{numbers.path + ", in a direction", derivative(along_v, t), by_pullback};
      std::copy(here.begin(), here.end(), numbers.begin());
      if (!agree(direction, 1e-8 * std::max(std::abs(direction.by_differences), std::abs(by_pullback))))
        for (std::size_t e = 0; e < here.size(); ++e)
          entries.push_back({numbers.path + ", " + entry(e / numbers.cols + 1, e % numbers.cols + 1),
                             derivative(L, numbers.numbers[e]), expected[e]});
      entries.push_back(direction);
    }
  }

  /// Adds every weight of a model, and the gradient that the pullback gives.
  template <class Model>
  void add_weights(const std::function<double()>& L, Model& model, Model& gradient) {
    add(L, named_weights(model), named_weights(gradient));
  }

  /// The failure with the first entry for which |a − b| > 10⁻⁶·max(|a|, |b|, 10⁻³‖g‖), or one of a and b is NaN. Here a
  /// and b are the two derivatives with respect to it, and ‖g‖ is the maximum of all |a| and |b|. It is a failure too
  /// if all derivatives are 0, because then nothing has been compared.
  std::optional<Failure> failure(Failure found) const {
    double norm = 0;
    for (const Entry& entry : entries)
      norm = std::max({norm, std::abs(entry.by_differences), std::abs(entry.by_pullback)});
    found.left.label = "by differences the derivative is";
    found.right.label = "by the pullback it is";
    for (const Entry& entry : entries) {
      const double a = entry.by_differences, b = entry.by_pullback;
      if (agree(entry, 1e-6 * std::max({std::abs(a), std::abs(b), 1e-3 * norm}))) continue;
      found.entry = entry.name;
      found.left.value = shown(a);
      found.right.value = shown(b);
      return found;
    }
    if (norm > 0) return std::nullopt;
    found.left = found.right = {};
    found.remark = "all derivatives are 0: nothing has been compared";
    return found;
  }

 private:
  /// False if one of them is NaN.
  static bool agree(const Entry& entry, double bound) {
    return std::abs(entry.by_differences - entry.by_pullback) <= bound;
  }
};

/// The derivatives of L = ⟨Ȳ, T(X)⟩ by the pullback of T, at a random X and random weights, compared with differences
/// of L. That is done for every weight, and for X unless it consists of tokens. If all derivatives are 0, as where
/// every ReLU rests, other numbers are drawn.
inline std::optional<Failure> gradient_fails(const Operation<double>& T, const Sequences& sequences, std::uint64_t seed,
                                             const Limits& limits = {}) {
  Generator generator{seed};
  std::optional<Failure> found;
  for (int draws = 0; draws < 10; ++draws) {
    const auto layer = drawn(T, generator);
    auto X = draw_input(T, sequences, generator, limits);
    const auto result = layer->differentiated(X);
    const auto Y_bar = draw_rows<double>(T.codomain, result->value.sequences, generator);
    const PulledBack<double> pulled_back{T.another(), *result, Y_bar};
    Comparison comparison;
    comparison.add(
        [&] {
          const auto Y = (*layer)(X);
          return std::inner_product(Y.numbers.begin(), Y.numbers.end(), Y_bar.numbers.begin(), 0.0);
        },
        coordinates(*layer, X), pulled_back.tables);
    found = comparison.failure({.claim = "the pullback agrees with central differences",
                                .layer = T.name,
                                .arithmetic = "double",
                                .seed = seed,
                                .place = within(sequences)});
    const bool nothing_compared = found && found->left.label.empty();
    if (!nothing_compared) break;
  }
  return found;
}

/// The same on stacks of one row, and of two and three rows.
inline std::optional<Failure> gradient_fails(const Operation<double>& T, std::uint64_t seed,
                                             const Limits& limits = {}) {
  for (const Sequences& sequences : stacks(limits, {{1}, {2, 3}}))
    if (auto found = gradient_fails(T, sequences, seed, limits)) return found;
  return std::nullopt;
}

}  // namespace tlm::checking
