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
#include <string_view>
#include <vector>

#include <tlm/algebra/parameters.hpp>
#include <tlm/checking/comparison.hpp>

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

/// Every number that some L depends on: its name, and the derivative of L with respect to it, computed in both ways.
struct Comparison {
  /// A number, and the derivative of L with respect to it, computed in both ways.
  struct Entry {
    std::string name;
    double by_differences, by_pullback;
  };
  std::vector<Entry> entries;

  /// Adds a table of numbers, and the table of derivatives that the pullback gives for them.
  void add(const std::string& name, const std::function<double()>& loss, double* numbers, const double* pulled_back,
           std::size_t rows, std::size_t cols, double h = difference_step) {
    for (std::size_t e = 0; e < rows * cols; ++e)
      entries.push_back(
          {name + ", " + entry(e / cols + 1, e % cols + 1), derivative(loss, numbers[e], h), pulled_back[e]});
  }

  /// Adds every weight of a model, and the gradient that the pullback gives.
  template <class Model>
  void add_weights(const std::function<double()>& loss, Model& model, Model& gradient, double h = difference_step) {
    const auto weights = named_weights(model);
    const auto pulled_back = parameters(gradient);
    for (std::size_t k = 0; k < weights.size(); ++k)
      add(weights[k].path, loss, weights[k].numbers, pulled_back[k].numbers, weights[k].rows, weights[k].cols, h);
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
      if (std::abs(a - b) <= 1e-6 * std::max({std::abs(a), std::abs(b), 1e-3 * norm})) continue;
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
};

/// The derivatives of L = ⟨Ȳ, T(X)⟩ by the pullback of T, at a random X and random weights, compared with differences
/// of L. That is done for every weight, and for every entry of X unless X consists of tokens. If all derivatives are 0,
/// as where every ReLU rests, other numbers are drawn.
inline std::optional<Failure> gradient_fails(const Operation<double>& T, std::string_view name,
                                             const Sequences& sequences, std::uint64_t seed, const Limits& limits) {
  Generator generator{seed};
  std::optional<Failure> found;
  for (int draws = 0; draws < 10; ++draws) {
    const auto layer = drawn(T, generator);
    auto X = draw_input(T, sequences, generator, limits);
    const auto result = layer->differentiated(X);
    const auto Y_bar = draw_rows<double>(T.codomain, result->value.sequences, generator);
    const auto gradient = T.another();
    const auto X_bar = result->pullback(Y_bar, *gradient);
    const auto L = [&] {
      const auto Y = (*layer)(X);
      return std::inner_product(Y.numbers.begin(), Y.numbers.end(), Y_bar.numbers.begin(), 0.0);
    };
    Comparison comparison;
    const auto weights = layer->weights(), pulled_back = gradient->weights();
    for (std::size_t k = 0; k < weights.size(); ++k)
      comparison.add(weights[k].path, L, weights[k].numbers, pulled_back[k].numbers, weights[k].rows, weights[k].cols);
    comparison.add("X", L, X.target.numbers.data(), X_bar.target.numbers.data(),
                   X_bar.target.cols > 0 ? X.target.sequences.rows() : 0, X.target.cols);
    found = comparison.failure({.claim = "the pullback agrees with central differences",
                                .layer = std::string(name),
                                .arithmetic = "double",
                                .seed = seed,
                                .place = within(sequences)});
    const bool nothing_compared = found && found->left.label.empty();
    if (!nothing_compared) break;
  }
  return found;
}

/// The same on stacks of one row, and of two and three rows. Each number is moved four times.
inline std::optional<Failure> gradient_fails(const Operation<double>& T, std::string_view name, std::uint64_t seed,
                                             const Limits& limits) {
  for (const Sequences& sequences : stacks(limits, {{1}, {2, 3}}))
    if (auto found = gradient_fails(T, name, sequences, seed, limits)) return found;
  return std::nullopt;
}

/// See above, of a layer that is given by its type.
template <class F>
std::optional<Failure> gradient_fails(std::string_view name, const Sequences& sequences, std::uint64_t seed,
                                      const Limits& limits = {}) {
  return gradient_fails(OperationOf<F, pullback_face>{}, name, sequences, seed, limits);
}
/// See above.
template <template <class> class Layer>
std::optional<Failure> gradient_fails(std::string_view name, std::uint64_t seed, const Limits& limits = {}) {
  return gradient_fails(OperationOf<Layer<double>, pullback_face>{}, name, seed, limits);
}

}  // namespace tlm::checking
