// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tlm/checking/comparison.hpp>
#include <tlm/checking/dual.hpp>
#include <tlm/checking/stacks.hpp>
#include <tlm/matrix/function_ref.hpp>

/// The check that a pullback is the transpose of the derivative, ⟨Jv, w⟩ = ⟨v, Jᵀw⟩.
///
/// J comes from dual numbers, whose rules know nothing of the pullbacks: T(X + vε) = T(X) + (Jv)ε. Over dual numbers of
/// the prime field the two sides are equal exactly, by the formal rules exp′ = exp, sqrt′ = 1/(2 sqrt), ReLU′ a function
/// of its own.
namespace tlm::checking {

/// Inputs and weights where the derivative is taken: the point, the dual numbers that are to move it, and what the pullback makes
/// of w there.
template <class Real>
struct Coordinates {
  std::vector<NamedWeight<Real>> point;
  std::vector<NamedWeight<Dual<Real>>> moved;
  std::vector<NamedWeight<Real>> pulled_back;
};

/// Whether ⟨Jv, w⟩ is other than ⟨v, Jᵀw⟩ for a direction v that is drawn, where Jv_w() is ⟨Jv, w⟩ for the v along which the
/// coordinates are moved. If so, the failure names the first coordinate at which Jᵀw is wrong.
template <class Real>
std::optional<Failure> products_differ(const Coordinates<Real>& coordinates, FunctionRef<Real()> Jv_w,
                                       Generator& generator) {
  // ⟨Jv, w⟩, where v(k, e) is the direction of entry e of matrix k.
  const auto along = [&](FunctionRef<Real(std::size_t, std::size_t)> v) {
    for (std::size_t k = 0; k < coordinates.point.size(); ++k)
      for (std::size_t e = 0; e < coordinates.point[k].size(); ++e)
        coordinates.moved[k].numbers[e] = {coordinates.point[k].numbers[e], v(k, e)};
    return Jv_w();
  };

  std::vector<std::vector<Real>> v;
  Real v_JT_w(0);
  for (const auto& weight : coordinates.pulled_back) {
    v.emplace_back();
    for (const Real& w : weight) {
      v.back().push_back(draw<Real>(generator));
      v_JT_w += v.back().back() * w;
    }
  }
  const Real left = along([&](std::size_t k, std::size_t e) { return v[k][e]; });
  if (Agree{}(left, v_JT_w)) return std::nullopt;

  Failure failure{.claim = "⟨Jv, w⟩ = ⟨v, Jᵀw⟩",
                  .entry = "one of the coordinates",
                  .left = {"⟨Jv, w⟩ =", shown(left)},
                  .right = {"⟨v, Jᵀw⟩ =", shown(v_JT_w)}};
  for (std::size_t k = 0; k < v.size(); ++k)
    for (std::size_t e = 0; e < v[k].size(); ++e) {
      const NamedWeight<Real>& pulled_back = coordinates.pulled_back[k];
      const Real derivative =
          along([&](std::size_t other_k, std::size_t other_e) { return Real(int(other_k == k && other_e == e)); });
      if (Agree{}(derivative, pulled_back.numbers[e])) continue;
      failure.entry = pulled_back.path + ", " + entry(e / pulled_back.cols + 1, e % pulled_back.cols + 1);
      failure.left = {"the derivative is", shown(derivative)};
      failure.right = {"the pullback returns", shown(pulled_back.numbers[e])};
      return failure;
    }
  return failure;
}

/// Whether the value that value_and_pullback(X) returns is another than T(X).
template <template <class> class Layer, class Real>
std::optional<Failure> value_fails(std::string_view name, std::uint64_t seed, const Limits& limits = {}) {
  using T = Layer<Real>;
  const auto on = [&](const Sequences& sequences, Generator& generator) {
    const auto layer = draw_layer<T>(generator);
    const auto X = draw_input<typename T::domain>(sequences, generator, limits);
    return first_difference(
        failure_of("value_and_pullback(X) begins with T(X)", "value_and_pullback(X).value is", "T(X) gives"),
        typename T::codomain(layer.value_and_pullback(X).value), layer(X));
  };
  return on_stacks(name, arithmetic<Real>(), seed, stacks(limits, {{1}, {2, 1}, {3, 1, 4}}), on);
}

/// Whether T's pullback is other than the transpose of its derivative, at random weights, inputs and directions, on stacks
/// of sequences of unequal lengths. If so, the failure names the first coordinate at which Jᵀw is wrong.
template <template <class> class Layer, class Real>
std::optional<Failure> transpose_fails(std::string_view name, std::uint64_t seed, const Limits& limits = {}) {
  using T = Layer<Real>;
  using DualT = Layer<Dual<Real>>;
  const auto on = [&](const Sequences& sequences, Generator& generator) -> std::optional<Failure> {
    auto layer = draw_layer<T>(generator);
    T gradient;
    DualT dual_layer;
    auto X = draw_input<typename T::domain>(sequences, generator, limits);
    auto result = layer.value_and_pullback(X);
    // (A layer may return other rows than it takes.)
    const auto w = draw_matrix<typename T::codomain>(result.value.sequences(), generator, limits);
    auto X_bar = pulled_back(result, w, gradient, X);

    Coordinates<Real> coordinates{named_weights(layer), named_weights(dual_layer), named_weights(gradient)};
    typename DualT::domain dual_X;
    if constexpr (reads_tokens<T>) {
      dual_X = X;
    } else {
      dual_X = typename DualT::domain{sequences};
      constexpr std::size_t cols = T::domain::cols;
      coordinates.point.push_back({{X.data(), X.rows(), cols}, "X"});
      coordinates.moved.push_back({{dual_X.data(), X.rows(), cols}, "X"});
      coordinates.pulled_back.push_back({{X_bar.data(), X.rows(), cols}, "X"});
    }
    const auto Jv_w = [&] {
      const auto dual_Y = dual_layer(dual_X);
      Real sum(0);
      for (std::size_t e = 0; e < w.rows() * T::codomain::cols; ++e) sum += dual_Y.data()[e].tangent * w.data()[e];
      return sum;
    };
    return products_differ<Real>(coordinates, Jv_w, generator);
  };
  const std::string dual_numbers = "dual numbers of " + std::string(arithmetic<Real>());
  return on_stacks(name, dual_numbers.c_str(), seed, stacks(limits, {{1}, {2, 1}, {3, 1, 4}}), on);
}

}  // namespace tlm::checking
