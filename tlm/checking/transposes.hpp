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

/// The check that a pullback is the transpose of the derivative, ⟨Jv, w⟩ = ⟨v, Jᵀw⟩.
///
/// J comes from dual numbers, whose rules know nothing of the pullbacks: T(X + vε) = T(X) + (Jv)ε. Over dual numbers of
/// the prime field the two sides are equal exactly, by the formal rules exp′ = exp, sqrt′ = 1/(2 sqrt), ReLU′ a function
/// of its own.
namespace tlm::checking {

/// A coordinate of the space of inputs and weights: a point, the dual number that is to move it, and what the pullback
/// makes of w there.
template <class Real>
struct Coordinate {
  std::string name;
  Real* point;
  Dual<Real>* moved;
  const Real* pulled_back;
};

/// Whether the value that value_and_pullback(X) returns is another than T(X).
template <template <class> class Layer, class Real>
std::optional<Failure> value_fails(std::string_view name, std::uint64_t seed, const Limits& limits = {}) {
  using T = Layer<Real>;
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layer = draw_layer<T>(generator);
    for (const Sequences& sequences : stacks(limits, {{1}, {2, 1}, {3, 1, 4}})) {
      const auto X = draw_input<typename T::domain>(sequences, generator, limits);
      const auto found = first_difference({.claim = "value_and_pullback(X) begins with T(X)",
                                           .layer = std::string(name),
                                           .arithmetic = arithmetic<Real>(),
                                           .seed = seed,
                                           .place = within(sequences),
                                           .left = {"value_and_pullback(X).value is", ""},
                                           .right = {"T(X) gives", ""}},
                                          typename T::codomain(layer.value_and_pullback(X).value), layer(X));
      if (found) return found;
    }
    return std::nullopt;
  });
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
    const auto X_bar = pulled_back(result, w, gradient, X);

    std::vector<Coordinate<Real>> coordinates;
    const auto points = numbers_of(layer), pulled_back = numbers_of(gradient);
    const auto moved = numbers_of(dual_layer);
    for (std::size_t k = 0; k < points.size(); ++k)
      for (std::size_t e = 0; e < points[k].size(); ++e)
        coordinates.push_back({points[k].path + ", " + entry(e / points[k].cols + 1, e % points[k].cols + 1),
                               points[k].numbers + e, moved[k].numbers + e, pulled_back[k].numbers + e});
    typename DualT::domain dual_X;
    if constexpr (reads_tokens<T>) {
      dual_X = X;
    } else {
      dual_X = typename DualT::domain{sequences};
      constexpr std::size_t cols = T::domain::cols;
      for (std::size_t e = 0; e < X.rows() * cols; ++e)
        coordinates.push_back(
            {"X, " + entry(e / cols + 1, e % cols + 1), X.data() + e, dual_X.data() + e, X_bar.data() + e});
    }

    // ⟨Jv, w⟩ for the direction v(c) of coordinate c.
    const auto J_v_w = [&](const auto& v) {
      for (std::size_t c = 0; c < coordinates.size(); ++c) *coordinates[c].moved = {*coordinates[c].point, v(c)};
      const auto dual_Y = dual_layer(dual_X);
      Real sum(0);
      for (std::size_t e = 0; e < w.rows() * T::codomain::cols; ++e) sum += dual_Y.data()[e].tangent * w.data()[e];
      return sum;
    };

    std::vector<Real> v;
    Real v_JT_w(0);
    for (const auto& c : coordinates) {
      v.push_back(draw<Real>(generator));
      v_JT_w += v.back() * *c.pulled_back;
    }
    const Real left = J_v_w([&](std::size_t c) { return v[c]; });
    if (Agree{}(left, v_JT_w)) return std::nullopt;

    Failure failure{.claim = "⟨Jv, w⟩ = ⟨v, Jᵀw⟩",
                    .layer = std::string(name),
                    .arithmetic = "dual numbers of " + std::string(arithmetic<Real>()),
                    .seed = seed,
                    .place = within(sequences),
                    .entry = "one of the coordinates",
                    .left = {"⟨Jv, w⟩ =", shown(left)},
                    .right = {"⟨v, Jᵀw⟩ =", shown(v_JT_w)}};
    for (std::size_t c = 0; c < coordinates.size(); ++c) {
      const Real along = J_v_w([c](std::size_t other) { return Real(int(other == c)); });
      if (Agree{}(along, *coordinates[c].pulled_back)) continue;
      failure.entry = coordinates[c].name;
      failure.left = {"the derivative is", shown(along)};
      failure.right = {"the pullback returns", shown(*coordinates[c].pulled_back)};
      break;
    }
    return failure;
  };
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    for (const Sequences& sequences : stacks(limits, {{1}, {2, 1}, {3, 1, 4}}))
      if (auto found = on(sequences, generator)) return found;
    return std::nullopt;
  });
}

}  // namespace tlm::checking
