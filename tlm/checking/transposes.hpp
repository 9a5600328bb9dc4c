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
/// the prime field the two sides are equal exactly. There the rules are formal: exp′ = exp, sqrt′ = 1/(2 sqrt), and
/// ReLU′ is a function of its own.
namespace tlm::checking {

/// The failure if the value that value_and_pullback(X) returns is not T(X).
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

/// Inputs and weights where the derivative is taken: the point, the dual numbers that move it, and the pullback of w
/// there.
template <class Real>
struct Coordinates {
  std::vector<NamedWeight<Real>> point, pulled_back;
  std::vector<NamedWeight<Dual<Real>>> moved;

  /// Adds a source or a target, X and its X̄, unless it consists of tokens.
  void add(Stacked<Real>& X, Stacked<Real>& X_bar, Stacked<Dual<Real>>& moved_X) {
    moved_X = Stacked<Dual<Real>>{X.sequences, {X.cols, !X.tokens.empty()}};
    moved_X.tokens = X.tokens;
    if (X.numbers.empty()) return;
    const std::size_t rows = X.sequences.rows();
    point.push_back({{X.numbers.data(), rows, X.cols}, "X"});
    pulled_back.push_back({{X_bar.numbers.data(), rows, X.cols}, "X"});
    moved.push_back({{moved_X.numbers.data(), rows, X.cols}, "X"});
  }
};

/// The failure if ⟨Jv, w⟩ ≠ ⟨v, Jᵀw⟩ for a random direction v. Jv_w() is ⟨Jv, w⟩ for the v along which the coordinates
/// are moved. The failure names the first coordinate at which Jᵀw is wrong.
template <class Real>
std::optional<Failure> products_differ(const Coordinates<Real>& coordinates, const std::function<Real()>& Jv_w,
                                       Generator& generator) {
  // ⟨Jv, w⟩, where v(k, e) is the direction of entry e of table k.
  const auto along = [&](const std::function<Real(std::size_t, std::size_t)>& v) {
    for (std::size_t k = 0; k < coordinates.point.size(); ++k)
      for (std::size_t e = 0; e < coordinates.point[k].size(); ++e)
        coordinates.moved[k].numbers[e] = {coordinates.point[k].numbers[e], v(k, e)};
    return Jv_w();
  };

  std::vector<std::vector<Real>> v;
  Real v_JT_w(0);
  for (const auto& table : coordinates.pulled_back) {
    v.emplace_back();
    for (const Real& number : table) {
      v.back().push_back(draw<Real>(generator));
      v_JT_w += v.back().back() * number;
    }
  }
  const Real left = along([&](std::size_t k, std::size_t e) { return v[k][e]; });
  if (Agree{}(left, v_JT_w)) return std::nullopt;

  Failure failure = failure_of("⟨Jv, w⟩ = ⟨v, Jᵀw⟩", "⟨Jv, w⟩ =", "⟨v, Jᵀw⟩ =");
  failure.entry = "one of the coordinates";
  failure.left.value = shown(left);
  failure.right.value = shown(v_JT_w);
  for (std::size_t k = 0; k < v.size(); ++k)
    for (std::size_t e = 0; e < v[k].size(); ++e) {
      const NamedWeight<Real>& table = coordinates.pulled_back[k];
      const Real derivative =
          along([&](std::size_t other_k, std::size_t other_e) { return Real(int(other_k == k && other_e == e)); });
      if (Agree{}(derivative, table.numbers[e])) continue;
      failure.entry = table.path + ", " + entry(e / table.cols + 1, e % table.cols + 1);
      failure.left = {"the derivative is", shown(derivative)};
      failure.right = {"the pullback returns", shown(table.numbers[e])};
      return failure;
    }
  return failure;
}

/// The failure if T's pullback is not the transpose of its derivative, at random weights, inputs and directions, on
/// stacks of sequences of unequal lengths. It names the first coordinate at which Jᵀw is wrong.
template <class Real>
std::optional<Failure> transpose_fails(const Operation<Real>& T, const Operation<Dual<Real>>& dual_T,
                                       std::string_view name, std::uint64_t seed, const Limits& limits) {
  const auto on = [&](const Sequences& sequences, Generator& generator) -> std::optional<Failure> {
    for (const Draw kind : draws<Real>()) {
      const auto layer = drawn(T, generator, kind), gradient = T.another();
      const auto dual_layer = dual_T.another();
      auto X = draw_input(T, sequences, generator, limits, kind);
      const auto result = layer->differentiated(X);
      const auto w = draw_rows<Real>(T.codomain, result->value.sequences, generator);
      auto X_bar = result->pullback(w, *gradient);

      Coordinates<Real> coordinates{layer->weights(), gradient->weights(), dual_layer->weights()};
      Input<Dual<Real>> dual_X;
      coordinates.add(X.source, X_bar.source, dual_X.source);
      coordinates.add(X.target, X_bar.target, dual_X.target);
      const auto Jv_w = [&] {
        const auto dual_Y = (*dual_layer)(dual_X);
        Real sum(0);
        for (std::size_t e = 0; e < w.numbers.size(); ++e) sum += dual_Y.numbers[e].tangent * w.numbers[e];
        return sum;
      };
      if (auto found = products_differ<Real>(coordinates, Jv_w, generator)) return found;
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
