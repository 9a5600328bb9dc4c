// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tlm/checking/dual.hpp>
#include <tlm/checking/pullbacks.hpp>

/// The check that a pullback is the transpose of the derivative, ⟨Jv, w⟩ = ⟨v, Jᵀw⟩.
///
/// J comes from dual numbers, whose rules know nothing of the pullbacks: T(X + vε) = T(X) + (Jv)ε. Over dual numbers of
/// the prime field the two sides are equal exactly, by the formal rules exp′ = exp, sqrt′ = 1/(2 sqrt), ReLU′ a function
/// of its own.
namespace tlm::checking {

/// Whether the value that value_and_pullback(X) returns is another than T(X).
template <class Real>
std::optional<Failure> value_fails(const Operation<Real>& T, std::string_view name, std::uint64_t seed,
                                   const Limits& limits) {
  const auto on = [&](const Sequences& sequences, Generator& generator) -> std::optional<Failure> {
    for (const Draw kind : draws<Real>()) {
      const auto layer = drawn(T, generator, kind);
      const auto X = draw_input(T, sequences, generator, limits, kind);
      if (auto found = first_difference(
              failure_of("value_and_pullback(X) begins with T(X)", "value_and_pullback(X).value is", "T(X) gives"),
              layer->differentiated(X)->value, (*layer)(X)))
        return found;
    }
    return std::nullopt;
  };
  return on_stacks(name, arithmetic<Real>(), seed, stacks_of_pullbacks(limits), on);
}

/// Whether T's pullback is other than the transpose of its derivative, at random weights, inputs and directions, on stacks
/// of sequences of unequal lengths. If so, the failure names the first coordinate at which Jᵀw is wrong.
///
/// The coordinates are the weights and, unless it consists of tokens, X. v is a direction in their space.
template <class Real>
std::optional<Failure> transpose_fails(const Operation<Real>& T, const Operation<Dual<Real>>& dual_T,
                                       std::string_view name, std::uint64_t seed, const Limits& limits) {
  const auto on = [&](const Sequences& sequences, Generator& generator) -> std::optional<Failure> {
    for (const Draw kind : draws<Real>()) {
      const auto layer = drawn(T, generator, kind);
      const auto X = draw_input(T, sequences, generator, limits, kind);
      const auto result = layer->differentiated(X);
      // (A layer may return other rows than it takes.)
      const auto w = draw_rows<Real>(T.codomain, result->value.sequences, generator);
      const auto gradient = T.another();
      const auto X_bar = result->pullback(w, *gradient);

      const auto dual_layer = dual_T.another();
      Input<Dual<Real>> dual_X;
      for (const auto part : {&Input<Real>::source, &Input<Real>::target}) {
        auto& to = part == &Input<Real>::source ? dual_X.source : dual_X.target;
        to = Stacked<Dual<Real>>{(X.*part).sequences, {(X.*part).cols, !(X.*part).tokens.empty()}};
        to.tokens = (X.*part).tokens;
      }
      // The point, the dual numbers that move it, and what the pullback makes of w there.
      auto point = layer->weights(), pulled_back = gradient->weights();
      auto moved = dual_layer->weights();
      auto x = X, x_bar = X_bar;
      for (const auto part : {&Input<Real>::source, &Input<Real>::target})
        if (!(x.*part).numbers.empty()) {
          auto& to = part == &Input<Real>::source ? dual_X.source : dual_X.target;
          const std::size_t rows = (x.*part).sequences.rows(), cols = (x.*part).cols;
          point.push_back({{(x.*part).numbers.data(), rows, cols}, "X"});
          pulled_back.push_back({{(x_bar.*part).numbers.data(), rows, cols}, "X"});
          moved.push_back({{to.numbers.data(), rows, cols}, "X"});
        }

      // ⟨Jv, w⟩, where v(k, e) is the direction of entry e of table k.
      const auto along = [&](const std::function<Real(std::size_t, std::size_t)>& v) {
        for (std::size_t k = 0; k < point.size(); ++k)
          for (std::size_t e = 0; e < point[k].size(); ++e) moved[k].numbers[e] = {point[k].numbers[e], v(k, e)};
        const auto dual_Y = (*dual_layer)(dual_X);
        Real sum(0);
        for (std::size_t e = 0; e < w.numbers.size(); ++e) sum += dual_Y.numbers[e].tangent * w.numbers[e];
        return sum;
      };
      std::vector<std::vector<Real>> v;
      Real v_JT_w(0);
      for (const auto& table : pulled_back) {
        v.emplace_back();
        for (const Real& number : table) {
          v.back().push_back(draw<Real>(generator));
          v_JT_w += v.back().back() * number;
        }
      }
      const Real left = along([&](std::size_t k, std::size_t e) { return v[k][e]; });
      if (Agree{}(left, v_JT_w)) continue;

      Failure failure = failure_of("⟨Jv, w⟩ = ⟨v, Jᵀw⟩", "⟨Jv, w⟩ =", "⟨v, Jᵀw⟩ =");
      failure.entry = "one of the coordinates";
      failure.left.value = shown(left);
      failure.right.value = shown(v_JT_w);
      for (std::size_t k = 0; k < v.size(); ++k)
        for (std::size_t e = 0; e < v[k].size(); ++e) {
          const Real derivative =
              along([&](std::size_t other_k, std::size_t other_e) { return Real(int(other_k == k && other_e == e)); });
          if (Agree{}(derivative, pulled_back[k].numbers[e])) continue;
          failure.entry = pulled_back[k].path + ", " + entry(e / pulled_back[k].cols + 1, e % pulled_back[k].cols + 1);
          failure.left = {"the derivative is", shown(derivative)};
          failure.right = {"the pullback returns", shown(pulled_back[k].numbers[e])};
          return failure;
        }
      return failure;
    }
    return std::nullopt;
  };
  const std::string dual_numbers = "dual numbers of " + std::string(arithmetic<Real>());
  return on_stacks(name, dual_numbers.c_str(), seed, stacks_of_pullbacks(limits), on);
}

/// See above, of a layer that is given by its type.
template <template <class> class Layer, class Real>
std::optional<Failure> value_fails(std::string_view name, std::uint64_t seed, const Limits& limits = {}) {
  return value_fails<Real>(OperationOf<Layer<Real>, pullback_face>{}, name, seed, limits);
}
/// See above.
template <template <class> class Layer, class Real>
std::optional<Failure> transpose_fails(std::string_view name, std::uint64_t seed, const Limits& limits = {}) {
  return transpose_fails<Real>(OperationOf<Layer<Real>, pullback_face>{}, OperationOf<Layer<Dual<Real>>, value_face>{},
                               name, seed, limits);
}

}  // namespace tlm::checking
