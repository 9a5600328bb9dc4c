// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <tlm/algebra/parameters.hpp>
#include <tlm/checking/claims.hpp>

/// What every pullback must do: it is linear, adds to the gradient, can be applied again, and is in float what it is in
/// double. The pullback of an autoregressive operation is anti-causal.
namespace tlm::checking {

/// The result of a pullback for some Ȳ: the gradient and X̄. Throws std::invalid_argument if X̄ has rows, and not those of X.
template <class Real>
struct PulledBack {
  std::unique_ptr<Operation<Real>> gradient;
  Input<Real> X_bar;
  std::vector<Parameter<Real>> tables;  ///< Their numbers.

  PulledBack(std::unique_ptr<Operation<Real>> added_to, const Differentiated<Real>& result, const Stacked<Real>& Y_bar)
      : gradient{std::move(added_to)}, X_bar{result.pullback(Y_bar, *gradient)}, tables{coordinates(*gradient, X_bar)} {
    for (const auto rows : {&Input<Real>::source, &Input<Real>::target})
      if ((X_bar.*rows).cols > 0)
        require_same_sequences("X", (result.X.*rows).sequences, "the X̄ that the pullback returns",
                               (X_bar.*rows).sequences);
  }

  const Real& operator()(std::size_t k, std::size_t e) const { return tables[k].numbers[e]; }
};

/// The failure if the value that value_and_pullback(X) returns is not T(X).
template <class Real>
std::optional<Failure> value_fails(const Operation<Real>& T, std::uint64_t seed, const Limits& limits = {}) {
  return on_stacks<Real>(
      T, failure_of("value_and_pullback(X) begins with T(X)", "value_and_pullback(X).value is", "T(X) gives"), seed,
      stacks_of_pullbacks(limits), limits, [](const Trial<Real>& at) {
        return first_difference(at.failure, at.layer->differentiated(at.X)->value, (*at.layer)(at.X));
      });
}

/// The requirements on a pullback that is applied more than once.
enum class Requirement { linear, adds, again, outlives };

/// T's value_and_pullback also takes temporary layers, which do not outlive the pullback. (Overloads and templates are not
/// looked at.)
template <class T>
concept TakesTemporaries = requires {
  &T::value_and_pullback;
};

/// The failure if T's pullback does not meet a requirement:
///
///   linear    pullback(a·w₁ + w₂) = a·pullback(w₁) + pullback(w₂);
///   adds      applied to w₂ with the gradient that w₁ has left, it adds to that;
///   again     applied to w₁ once more, it returns the same;
///   outlives  and so it does where the layer's weights have changed: it does not refer to them.
template <class Real>
std::optional<Failure> pullback_fails(const Operation<Real>& T, Requirement requirement, std::uint64_t seed,
                                      const Limits& limits = {}) {
  Failure failure =
      requirement == Requirement::linear
          ? failure_of("pullbacks are linear", "for a·w₁ + w₂ it returns", "a times that for w₁ plus that for w₂ is")
      : requirement == Requirement::adds ? failure_of("a pullback adds to the gradient",
                                                      "w₂ makes of the gradient that w₁ has left", "the sum of both is")
      : requirement == Requirement::again
          ? failure_of("a pullback can be applied again", "applied again, it returns", "the first time it returned")
          : failure_of("a pullback that refers to its layer refuses a temporary one",
                       "where the layer's weights have changed, it returns", "before, it returned");
  if (requirement == Requirement::outlives)
    failure.remark =
        "value_and_pullback is to be const&, and to have auto value_and_pullback(domain) const&& { return "
        "tlm::refuse_temporary<" +
        T.name + ">(); } beside it";
  const auto on = [&](const Trial<Real>& at) {
    const auto result = at.layer->differentiated(at.X);
    const auto w_1 = at.draw_rows_of(result->value.sequences), w_2 = at.draw_rows_of(result->value.sequences);
    const Real a = draw<Real>(at.generator);
    const auto pulled_back = [&](const Stacked<Real>& w) { return PulledBack<Real>{T.another(), *result, w}; };
    const auto v_1 = pulled_back(w_1), v_2 = pulled_back(w_2);

    if (requirement == Requirement::linear) {
      auto w = w_2;
      for (std::size_t e = 0; e < w.numbers.size(); ++e) w.numbers[e] += a * w_1.numbers[e];
      return first_difference(at.failure, pulled_back(w).tables,
                              [&](std::size_t k, std::size_t e) { return a * v_1(k, e) + v_2(k, e); });
    }
    if (requirement == Requirement::adds) {
      const PulledBack<Real> both{pulled_back(w_1).gradient, *result, w_2};
      const std::size_t weights = both.gradient->weights().size();  // then X̄ comes
      return first_difference(at.failure, both.tables, [&](std::size_t k, std::size_t e) {
        return k < weights ? v_1(k, e) + v_2(k, e) : v_2(k, e);
      });
    }
    if (requirement == Requirement::outlives)
      for (const auto& weight : at.layer->weights())
        for (Real& w : weight) w = draw<Real>(at.generator);
    return first_difference(at.failure, pulled_back(w_1).tables, v_1, SameBits{});
  };
  return on_stacks<Real>(T, failure, seed, stacks_of_pullbacks(limits), limits, on);
}

/// The failure if T's value or pullback in float differs from that in double by more than a thousandth of the largest
/// number, or of 1. (Zeros and equal rows are left out: where a ReLU is at 0, rounding decides.)
inline std::optional<Failure> float_differs(const Operation<float>& T, const Operation<double>& exact,
                                            std::uint64_t seed, const Limits& limits = {}) {
  const auto on = [&](const Trial<float>& at) -> std::optional<Failure> {
    if (at.kind == Draw::special) return std::nullopt;
    const auto exact_layer = exact.another();
    const auto from = at.layer->weights();
    const auto to = exact_layer->weights();
    for (std::size_t k = 0; k < from.size(); ++k) std::copy(from[k].begin(), from[k].end(), to[k].begin());
    const auto result = at.layer->differentiated(at.X);
    const auto exact_result = exact_layer->differentiated({at.X.source.like<double>(), at.X.target.like<double>()});
    const auto w = at.draw_rows_of(result->value.sequences);
    const PulledBack<float> pulled_back{T.another(), *result, w};
    const PulledBack<double> expected{exact.another(), *exact_result, w.like<double>()};

    double greatest = 1;
    for (const double number : exact_result->value.numbers) greatest = std::max(greatest, std::abs(number));
    const auto close = [&](double a, double b) { return std::isfinite(a - b) && std::abs(a - b) <= 1e-3 * greatest; };
    if (auto found = first_difference(at.failure, result->value.like<double>(), exact_result->value, 0, close)) {
      found->entry += " of the value";
      return found;
    }
    for (const auto& table : expected.tables)
      for (const double number : table) greatest = std::max(greatest, std::abs(number));
    return first_difference(
        at.failure, pulled_back.tables, [&](std::size_t k, std::size_t e) { return float(expected(k, e)); }, close);
  };
  return on_stacks<float>(T, failure_of("float is double, within rounding", "in float it is", "in double it is"), seed,
                          stacks_of_pullbacks(limits), limits, on);
}

/// The failure if row i of X̄ depends on a row j < i of Ȳ, or for a rowwise operation on another row than i. One run
/// covers all inputs and weights of that shape at which no number overflows. Tokens are not checked.
inline std::optional<Failure> anti_causality_fails(const Operation<Dependencies>& T,
                                                   Claim claim = Claim::autoregressive, const Limits& limits = {}) {
  Failure failure = failure_of(claim);
  failure.claim = claim == Claim::rowwise ? "X̄_i depends on no Ȳ_j with j ≠ i" : "X̄_i depends on no Ȳ_j with j < i";
  failure.left.label = "it depends on the rows of X | of Ȳ";
  const auto on = [&](const Trial<Dependencies>& at) -> std::optional<Failure> {
    const auto result = at.layer->differentiated(at.X);
    Stacked<Dependencies> Y_bar{result->value.sequences, T.codomain};
    for (std::size_t i = 0; i < Y_bar.sequences.rows(); ++i)
      std::fill_n(&Y_bar(i, 0), Y_bar.cols, Dependencies::codomain_position(i));
    const auto X_bar = PulledBack<Dependencies>{T.another(), *result, Y_bar}.X_bar.target;
    const std::size_t n = at.sequences().rows();
    for (std::size_t i = 0; i < n; ++i) {
      Dependencies allowed{1};
      for (std::size_t j = 0; j < n; ++j) {
        allowed += Dependencies::position(j);
        if (j == i || (j > i && claim != Claim::rowwise)) allowed += Dependencies::codomain_position(j);
      }
      at.failure.i = i + 1;
      if (auto found = depends_on_more(at.failure, X_bar.rows(i, 1), allowed, i)) return found;
    }
    return std::nullopt;
  };
  return on_stacks<Dependencies>(T, failure, 0, single_sequences(limits), limits, on);
}

}  // namespace tlm::checking
