// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tlm/checking/claims.hpp>

/// What every pullback must do: it is linear, adds to the gradient, can be applied again, and is in float what it is in
/// double. The pullback of an autoregressive operation is anti-causal.
namespace tlm::checking {

/// The result of a pullback for some Ȳ: the gradient and X̄, as one list of tables, each with its name.
template <class Real>
struct PulledBack {
  struct Part {
    std::string path;
    Stacked<Real> numbers;
  };
  std::vector<Part> parts;

  /// From what a pullback has added to this gradient, and returned.
  PulledBack(Operation<Real>& gradient, const Input<Real>& X_bar) {
    for (const auto& weight : gradient.weights()) {
      Stacked<Real> numbers{Sequences{weight.rows}, {weight.cols}};
      std::copy(weight.begin(), weight.end(), numbers.numbers.begin());
      parts.push_back({weight.path, std::move(numbers)});
    }
    parts.push_back({"", X_bar.source});
    parts.push_back({"", X_bar.target});
  }

  /// The failure with the first entry in which this differs from `expected(k, e)`, for entry e of part k.
  template <class Expected, class Same = Agree>
  std::optional<Failure> differs(const Failure& failure, const Expected& expected, const Same& same = {}) const {
    for (std::size_t k = 0; k < parts.size(); ++k) {
      auto right = parts[k].numbers;
      for (std::size_t e = 0; e < right.numbers.size(); ++e) right.numbers[e] = expected(k, e);
      if (auto found = first_difference(failure, parts[k].numbers, right, 0, same)) {
        if (!parts[k].path.empty()) found->entry = parts[k].path + ", " + found->entry;
        return found;
      }
    }
    return std::nullopt;
  }
  const Real& operator()(std::size_t k, std::size_t e) const { return parts[k].numbers.numbers[e]; }
};

/// The requirements on a pullback that is applied more than once.
enum class Requirement { linear, adds, again, outlives };

/// The failure to meet a requirement, without its place.
inline Failure failure_to_be(Requirement requirement) {
  switch (requirement) {
    case Requirement::linear:
      return failure_of("pullbacks are linear", "for a·w₁ + w₂ it returns", "a times that for w₁ plus that for w₂ is");
    case Requirement::adds:
      return failure_of("a pullback adds to the gradient", "w₂ makes of the gradient that w₁ has left",
                        "the sum of both is");
    case Requirement::again:
      return failure_of("a pullback can be applied again", "applied again, it returns", "the first time it returned");
    default:
      return failure_of("a pullback that refers to its layer refuses a temporary one",
                        "where the layer's weights have changed, it returns", "before, it returned");
  }
}

/// T's value_and_pullback also takes temporary layers, which do not outlive the pullback.
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
std::optional<Failure> pullback_fails(const Operation<Real>& T, std::string_view name, Requirement requirement,
                                      std::uint64_t seed, const Limits& limits) {
  const auto on = [&](const Sequences& sequences, Generator& generator) -> std::optional<Failure> {
    const auto layer = drawn(T, generator);
    const auto result = layer->differentiated(draw_input(T, sequences, generator, limits));
    const auto w_1 = draw_rows<Real>(T.codomain, result->value.sequences, generator),
               w_2 = draw_rows<Real>(T.codomain, result->value.sequences, generator);
    const Real a = draw<Real>(generator);
    const auto pulled_back = [&](const Stacked<Real>& w) {
      const auto gradient = T.another();
      const auto X_bar = result->pullback(w, *gradient);
      return PulledBack<Real>{*gradient, X_bar};
    };
    const auto v_1 = pulled_back(w_1), v_2 = pulled_back(w_2);

    const Failure failure = failure_to_be(requirement);
    const auto first = [&](std::size_t k, std::size_t e) { return v_1(k, e); };
    switch (requirement) {
      case Requirement::linear: {
        auto w = w_2;
        for (std::size_t e = 0; e < w.numbers.size(); ++e) w.numbers[e] += a * w_1.numbers[e];
        return pulled_back(w).differs(failure, [&](std::size_t k, std::size_t e) { return a * v_1(k, e) + v_2(k, e); });
      }
      case Requirement::adds: {
        const auto gradient = T.another();
        result->pullback(w_1, *gradient);
        const auto X_bar = result->pullback(w_2, *gradient);
        const std::size_t weights = v_1.parts.size() - 2;  // then X̄ comes
        return PulledBack<Real>{*gradient, X_bar}.differs(
            failure, [&](std::size_t k, std::size_t e) { return k < weights ? v_1(k, e) + v_2(k, e) : v_2(k, e); });
      }
      case Requirement::again:
        return pulled_back(w_1).differs(failure, first, SameBits{});
      default:
        for (const auto& weight : layer->weights())
          for (Real& w : weight) w = draw<Real>(generator);
        return pulled_back(w_1).differs(failure, first);
    }
  };
  auto found = on_stacks(name, arithmetic<Real>(), seed, stacks_of_pullbacks(limits), on);
  if (found && requirement == Requirement::outlives)
    found->remark =
        "value_and_pullback is to be const&, and to have auto value_and_pullback(domain) const&& { return "
        "tlm::refuse_temporary<" +
        std::string(name) + ">(); } beside it";
  return found;
}

/// The failure if T's value or pullback in float differs from that in double by more than a thousandth of the largest
/// number.
inline std::optional<Failure> float_differs(const Operation<float>& T, const Operation<double>& exact,
                                            std::string_view name, std::uint64_t seed, const Limits& limits) {
  const auto in_double = [](const Stacked<float>& X) {
    Stacked<double> same;
    same.sequences = X.sequences;
    same.cols = X.cols;
    same.numbers.assign(X.numbers.begin(), X.numbers.end());
    same.tokens = X.tokens;
    return same;
  };
  const auto on = [&](const Sequences& sequences, Generator& generator) -> std::optional<Failure> {
    const auto layer = drawn(T, generator);
    const auto exact_layer = exact.another();
    const auto from = layer->weights();
    const auto to = exact_layer->weights();
    for (std::size_t k = 0; k < from.size(); ++k) std::copy(from[k].begin(), from[k].end(), to[k].begin());
    const auto X = draw_input(T, sequences, generator, limits);
    const auto result = layer->differentiated(X);
    const auto exact_result = exact_layer->differentiated({in_double(X.source), in_double(X.target)});
    const auto w = draw_rows<float>(T.codomain, result->value.sequences, generator);
    const auto gradient = T.another();
    const auto exact_gradient = exact.another();
    const auto X_bar = result->pullback(w, *gradient);
    const auto exact_X_bar = exact_result->pullback(in_double(w), *exact_gradient);

    double greatest = 1;
    const auto close = [&](double a, double b) { return std::abs(a - b) <= 1e-3 * greatest; };
    const auto failure = failure_of("float is double, within rounding", "in float it is", "in double it is");
    if (auto found = first_difference(failure, in_double(result->value), exact_result->value, 0, close)) {
      found->entry += " of the value";
      return found;
    }
    const PulledBack<double> expected{*exact_gradient, exact_X_bar};
    const PulledBack<float> pulled_back{*gradient, X_bar};
    for (const auto& part : expected.parts)
      for (const double number : part.numbers.numbers) greatest = std::max(greatest, std::abs(number));
    return pulled_back.differs(
        failure, [&](std::size_t k, std::size_t e) { return float(expected(k, e)); }, close);
  };
  return on_stacks(name, "float", seed, stacks_of_pullbacks(limits), on);
}

/// The failure if row i of X̄ depends on a row j < i of Ȳ, or for a rowwise operation on another row than i. One run
/// covers every input and all weights of that shape. Tokens are not checked.
inline std::optional<Failure> anti_causality_fails(const Operation<Dependencies>& T, std::string_view name, Claim claim,
                                                   const Limits& limits) {
  Generator generator{0};
  const auto layer = drawn(T, generator);
  for (std::size_t n = 1; n <= limits.rows; ++n) {
    const auto result = layer->differentiated(tagged(T, Sequences{n}));
    Stacked<Dependencies> Y_bar{result->value.sequences, T.codomain};
    for (std::size_t i = 0; i < Y_bar.sequences.rows(); ++i)
      std::fill_n(&Y_bar(i, 0), Y_bar.cols, Dependencies::codomain_position(i));
    const auto gradient = T.another();
    const auto X_bar = result->pullback(Y_bar, *gradient).target;
    for (std::size_t i = 0; i < n; ++i) {
      Dependencies allowed{1};
      for (std::size_t j = i; j < (claim == Claim::rowwise ? i + 1 : n); ++j)
        allowed += Dependencies::codomain_position(j);
      for (std::size_t j = 0; j < X_bar.cols; ++j)
        if ((X_bar(i, j).tags() >> 32 & ~(allowed.tags() >> 32)) != 0) {
          Failure found = with_sets(failure_of(claim == Claim::rowwise ? "X̄_i depends on no Ȳ_j with j ≠ i"
                                                                       : "X̄_i depends on no Ȳ_j with j < i",
                                               "it depends on the rows of X | of Ȳ", "and of Ȳ may depend on"),
                                    i, j, X_bar(i, j), allowed);
          found.layer = name;
          found.arithmetic = arithmetic<Dependencies>();
          found.n = n;
          found.i = i + 1;
          return found;
        }
    }
  }
  return std::nullopt;
}

/// See above, of a layer that is given by its type.
template <template <class> class Layer, class Real>
std::optional<Failure> pullback_fails(std::string_view name, Requirement requirement, std::uint64_t seed,
                                      const Limits& limits = {}) {
  return pullback_fails<Real>(OperationOf<Layer<Real>, pullback_face>{}, name, requirement, seed, limits);
}
/// See above.
template <template <class> class Layer>
std::optional<Failure> anti_causality_fails(std::string_view name, Claim claim = Claim::autoregressive,
                                            const Limits& limits = {}) {
  return anti_causality_fails(OperationOf<Layer<Dependencies>, pullback_face>{}, name, claim, limits);
}

}  // namespace tlm::checking
