// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/checking/comparison.hpp>
#include <tlm/checking/stacks.hpp>
#include <tlm/matrix/numbers.hpp>

/// Pullbacks against central differences, number by number, with their signs.
namespace tlm::checking {

/// The step of the differences. With steps ±h and ±2h the error is of order h⁴ plus rounding of order 10⁻¹⁶/h; and the
/// smaller h is, the fewer are the ReLUs whose kink lies between x − 2h and x + 2h, where there is no derivative to find.
inline constexpr double step = 1e-5;

/// df/dx by central differences: (8(f(x+h) − f(x−h)) − (f(x+2h) − f(x−2h))) / 12h. Leaves x as it was.
inline double derivative(const std::function<double()>& f, double& x, double h = step) {
  const double here = x;
  const auto at = [&](double there) {
    x = there;
    const double value = f();
    x = here;
    return value;
  };
  return (8 * (at(here + h) - at(here - h)) - (at(here + 2 * h) - at(here - 2 * h))) / (12 * h);
}

/// Every number that some L depends on: its name, and ∂L by it in both ways.
struct Comparison {
  /// A number, and ∂L by it in both ways.
  struct Entry {
    std::string name;
    double by_differences, by_pullback;
  };
  std::vector<Entry> entries;

  /// Takes in a table of numbers, by which ∂L is said to be another.
  void add(const std::string& name, const std::function<double()>& loss, double* numbers, const double* pulled_back,
           std::size_t rows, std::size_t cols, double h = step) {
    for (std::size_t e = 0; e < rows * cols; ++e)
      entries.push_back(
          {name + ", " + entry(e / cols + 1, e % cols + 1), derivative(loss, numbers[e], h), pulled_back[e]});
  }

  /// Takes in every entry of M, by which ∂L/∂M is said to be M̄.
  template <class M>
  void add(const std::string& name, const std::function<double()>& loss, M& matrix, const M& pulled_back,
           double h = step) {
    add(name, loss, matrix.data(), pulled_back.data(), matrix.rows(), M::cols, h);
  }

  /// Takes in every weight of a model, by which ∂L is said to be its gradient.
  template <class Model>
  void add_weights(const std::function<double()>& loss, Model& model, Model& gradient, double h = step) {
    const auto weights = named_weights(model);
    const auto pulled_back = parameters(gradient);
    for (std::size_t k = 0; k < weights.size(); ++k)
      add(weights[k].path, loss, weights[k].numbers, pulled_back[k].numbers, weights[k].rows, weights[k].cols, h);
  }

  /// The failure with the first entry for which |a − b| > 10⁻⁶·max(|a|, |b|, 10⁻³‖g‖), where a and b are both derivatives
  /// by it, and ‖g‖ is the greatest of all |a| and |b|; or in which NaN is among them. Derivatives that are all 0 are a
  /// failure, too, for then nothing has been compared.
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

/// ⟨A, B⟩ = Σ_ij a_ij·b_ij.
template <std::size_t cols>
double inner_product(const Matrix<n, cols, double>& A, const Matrix<n, cols, double>& B) {
  return sum_of(A.rows() * cols, [&](std::size_t e) { return A.data()[e] * B.data()[e]; });
}

/// What the pullback of F at X says about L = ⟨Ȳ, F(X)⟩, compared with differences of L: for every weight of F, and for
/// every entry of X unless X consists of tokens.
template <class F>
std::optional<Failure> gradient_fails(std::string_view name, F layer, typename F::domain X,
                                      const typename F::codomain& Y_bar, double h = step) {
  F gradient;
  auto X_bar = pulled_back(layer.value_and_pullback(X), Y_bar, gradient, X);

  const auto L = [&] { return inner_product(Y_bar, layer(X)); };
  Comparison comparison;
  comparison.add_weights(L, layer, gradient, h);
  if constexpr (std::is_same_v<decltype(X_bar), typename F::domain> && !Pair<typename F::domain>)
    comparison.add("X", L, X, X_bar, h);
  return comparison.failure({.claim = "the pullback agrees with central differences",
                             .layer = std::string(name),
                             .arithmetic = "double",
                             .place = within(target(X).sequences())});
}

/// The same at random weights, a random X of these sequences and a random Ȳ; at others where all derivatives are 0, as they
/// are where every ReLU rests.
template <class F>
std::optional<Failure> gradient_fails(std::string_view name, const Sequences& sequences, std::uint64_t seed,
                                      const Limits& limits = {}) {
  Generator generator{seed};
  std::optional<Failure> found;
  for (int draws = 0; draws < 10; ++draws) {
    const F layer = draw_layer<F>(generator);
    const auto X = draw_input<typename F::domain>(sequences, generator, limits);
    const auto Y_bar = draw_matrix<typename F::codomain>(layer(X).sequences(), generator, limits);
    found = gradient_fails(name, layer, X, Y_bar);
    const bool nothing_compared = found && found->left.label.empty();
    if (!nothing_compared) break;
  }
  if (found) found->seed = seed;
  return found;
}

/// The same on the stacks of one row, of four, and of three sequences of unequal lengths.
template <template <class> class Layer>
std::optional<Failure> gradient_fails(std::string_view name, std::uint64_t seed, const Limits& limits = {}) {
  for (const Sequences& sequences : stacks(limits, {{1}, {4}, {3, 1, 5}}))
    if (auto found = gradient_fails<Layer<double>>(name, sequences, seed, limits)) return found;
  return std::nullopt;
}

}  // namespace tlm::checking
