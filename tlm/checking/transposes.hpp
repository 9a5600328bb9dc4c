// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tlm/checking/dual.hpp>
#include <tlm/checking/pullbacks.hpp>

/// The check that a pullback is the transpose of the derivative, ⟨Jv, w⟩ = ⟨v, Jᵀw⟩.
///
/// J comes from dual numbers, whose rules know nothing of the pullbacks: T(X + vε) = T(X) + (Jv)ε. Over dual numbers of
/// the prime field the two sides are equal exactly. There the rules are formal: exp′ = exp, sqrt′ = 1/(2 sqrt), and
/// ReLU′ is a function of its own.
namespace tlm::checking {

/// The failure if the value that value_and_pullback(X) returns is not T(X).
template <class Real>
std::optional<Failure> value_fails(const Operation<Real>& T, std::uint64_t seed, const Limits& limits = {}) {
  return on_stacks<Real>(
      T, failure_of("value_and_pullback(X) begins with T(X)", "value_and_pullback(X).value is", "T(X) gives"), seed,
      stacks_of_pullbacks(limits), limits, [](const Trial<Real>& at) {
        return first_difference(at.failure, at.layer->differentiated(at.X).value, (*at.layer)(at.X));
      });
}

/// The failure if T's pullback is not the transpose of its derivative, at random weights, inputs and directions v, on
/// stacks of sequences. It names the first coordinate at which Jᵀw is wrong.
template <class Real>
std::optional<Failure> transpose_fails(const Operation<Real>& T, const Operation<Dual<Real>>& dual_T,
                                       std::uint64_t seed, const Limits& limits = {}) {
  Failure failure = failure_of("⟨Jv, w⟩ = ⟨v, Jᵀw⟩", "the pullback returns", "the derivative is");
  failure.arithmetic = std::string("dual numbers of ") + arithmetic<Real>();
  const auto on = [&](const Trial<Real>& at) -> std::optional<Failure> {
    const auto dual_layer = dual_T.another();
    auto X = at.X;
    const auto result = at.layer->differentiated(X);
    const auto w = at.draw_rows_of(result.value.sequences);
    const PulledBack<Real> JT_w{T.another(), result, w};

    Input<Dual<Real>> dual_X{X.source.template like<Dual<Real>>(), X.target.template like<Dual<Real>>()};
    const auto point = coordinates(*at.layer, X);
    const auto moved = coordinates(*dual_layer, dual_X);
    // ⟨Jv, w⟩, where v(k, e) is the direction of number e of table k.
    const auto Jv_w = [&](const auto& v) {
      for (std::size_t k = 0; k < point.size(); ++k)
        for (std::size_t e = 0; e < point[k].size(); ++e) moved[k].numbers[e] = {point[k].numbers[e], v(k, e)};
      const auto dual_Y = (*dual_layer)(dual_X);
      Real sum(0);
      for (std::size_t e = 0; e < w.numbers.size(); ++e) sum += dual_Y.numbers[e].tangent * w.numbers[e];
      return sum;
    };
    std::vector<std::vector<Real>> v;
    Real v_JT_w(0);
    for (const auto& table : JT_w.tables) {
      v.emplace_back();
      for (const Real& number : table) {
        v.back().push_back(draw<Real>(at.generator));
        v_JT_w += v.back().back() * number;
      }
    }
    const Real left = Jv_w([&](std::size_t k, std::size_t e) { return v[k][e]; });
    if (Agree{}(left, v_JT_w)) return std::nullopt;

    const auto by_coordinate = [&](std::size_t k, std::size_t e) {
      return Jv_w([&](std::size_t other_k, std::size_t other_e) { return Real(int(other_k == k && other_e == e)); });
    };
    if (auto found = first_difference(at.failure, JT_w.tables, by_coordinate)) return found;
    at.failure.entry = "one of the coordinates";
    at.failure.left = {"⟨Jv, w⟩ =", shown(left)};
    at.failure.right = {"⟨v, Jᵀw⟩ =", shown(v_JT_w)};
    return at.failure;
  };
  return on_stacks<Real>(T, failure, seed, stacks_of_pullbacks(limits), limits, on);
}
/// The same for a layer that is given by its type, over dual numbers of `Real`.
template <template <class> class Layer, class Real>
std::optional<Failure> transpose_fails(std::string_view name, std::uint64_t seed, const Limits& limits = {}) {
  return transpose_fails(OperationOf<Layer<Real>, pullback_face>{name}, OperationOf<Layer<Dual<Real>>>{name}, seed,
                         limits);
}

}  // namespace tlm::checking
