// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tlm/algebra/parameters.hpp>
#include <tlm/checking/dual.hpp>
#include <tlm/checking/pullbacks.hpp>

/// The checks that a pullback is the transpose of the derivative: by dual numbers, ⟨Jv, w⟩ = ⟨v, Jᵀw⟩, and by central
/// differences, number by number.
namespace tlm::checking {

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
    const auto w = at.draw_rows_of(result->value.sequences);
    const PulledBack<Real> JT_w{T.another(), *result, w};

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
    Real v_JT_w(0);
    const Real left = Jv_w([&](std::size_t k, std::size_t e) {
      const Real v = draw<Real>(at.generator);
      v_JT_w += v * JT_w(k, e);
      return v;
    });
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

/// df/dx by central differences: (8(f(x+h) − f(x−h)) − (f(x+2h) − f(x−2h))) / 12h. Leaves x as it was.
///
/// The error is of order h⁴ plus rounding of order 10⁻¹⁶/h. A ReLU whose kink is between x − 2h and x + 2h has no
/// derivative to find. The smaller h is, the fewer there are.
inline double derivative(const std::function<double()>& f, double& x) {
  constexpr double h = 1e-5;
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
/// not finite. Here a is the derivative of L with respect to it by differences, and b the one by the pullback: the number in
/// its place in `pulled_back`. ‖g‖ is the maximum of all |a| and |b|. It is a failure too if all derivatives are 0,
/// because then nothing has been compared.
inline std::optional<Failure> derivatives_differ(Failure found, const std::function<double()>& L,
                                                 std::span<const Parameter<double>> point,
                                                 std::span<const Parameter<double>> pulled_back) {
  std::vector<Parameter<double>> by_differences{point.begin(), point.end()};
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
    return std::isfinite(a - b) && std::abs(a - b) <= 1e-6 * std::max({std::abs(a), std::abs(b), 1e-3 * norm});
  };
  if (auto differs = first_difference(
          found, by_differences, [&](std::size_t k, std::size_t e) { return pulled_back[k].numbers[e]; }, close))
    return differs;
  if (norm > 0) return std::nullopt;
  found.left = found.right = {};
  found.remark = "all derivatives are 0: nothing has been compared";
  return found;
}

/// The stacks on which it is compared with differences.
inline std::vector<Sequences> stacks_of_differences(const Limits& limits) { return stacks(limits, {{1}, {2, 3}}); }

/// The derivatives of L = ⟨Ȳ, T(X)⟩ by the pullback of T, at a random X and random weights, compared with differences
/// of L. That is done for every weight, and for X unless it consists of tokens. If all derivatives are 0, as where
/// every ReLU rests, other numbers are drawn, up to ten times. Zeros and equal rows are left out: a ReLU at 0 has no derivative.
inline std::optional<Failure> gradient_fails(const Operation<double>& T, std::uint64_t seed,
                                             const Limits& limits = {}) {
  const auto on = [&](Trial<double>& at) -> std::optional<Failure> {
    for (int draws = 0; draws < 10 && at.kind == Draw::any; ++draws) {
      const auto result = at.layer->differentiated(at.X);
      const auto Y_bar = at.draw_rows_of(result->value.sequences);
      const PulledBack<double> pulled_back{T.another(), *result, Y_bar};
      const auto L = [&] {
        const auto Y = (*at.layer)(at.X);
        return std::inner_product(Y.numbers.begin(), Y.numbers.end(), Y_bar.numbers.begin(), 0.0);
      };
      const auto found = derivatives_differ(at.failure, L, coordinates(*at.layer, at.X), pulled_back.tables);
      if (!found || !found->left.label.empty()) return found;
      at.layer = drawn(T, at.generator);
      at.X = draw_input(T, at.sequences(), at.generator, at.limits);
    }
    return std::nullopt;  // the derivative is 0 wherever it was asked, and so is what the pullback returns
  };
  return on_stacks<double>(T, {.claim = "the pullback agrees with central differences"}, seed,
                           stacks_of_differences(limits), limits, on);
}

}  // namespace tlm::checking
