// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tlm/checking/comparison.hpp>
#include <tlm/checking/stacks.hpp>

/// What every pullback is to do: it is linear, adds to the gradient, can be applied again; and that of an autoregressive
/// operation is anti-causal.
namespace tlm::checking {

/// a·L + R, entry by entry.
template <class M>
M combination(const typename M::Real& a, const M& L, M R) {
  for (std::size_t e = 0; e < R.rows() * M::cols; ++e) R.data()[e] += a * L.data()[e];
  return R;
}
/// There is nothing to combine.
inline Nothing combination(const auto&, Nothing, Nothing) { return {}; }
/// The same by source and target.
template <Pair P>
P combination(const auto& a, const P& L, const P& R) {
  return {combination(a, L.x, R.x), combination(a, L.y, R.y)};
}

/// What is required of the pullback when it is applied more than once.
enum class Requirement { linear, adds, again, outlives };

/// The failure to meet a requirement, without what it is seen of.
inline Failure failure_to_be(Requirement requirement) {
  switch (requirement) {
    case Requirement::linear:
      return failure_of("pullbacks are linear", "of a·w₁ + w₂ it makes", "a times of w₁ plus of w₂");
    case Requirement::adds:
      return failure_of("a pullback adds to the gradient", "w₂ makes of the gradient that w₁ has left",
                        "the sum of both is");
    case Requirement::again:
      return failure_of("a pullback can be applied again", "applied again, it makes", "the first time it made");
    case Requirement::outlives:
      break;
  }
  return failure_of("a pullback that refers to its layer refuses a temporary one",
                    "where the layer's weights have changed, it makes", "before, it made");
}

/// The failure with the first entry in which a gradient is another than a_1·L + a_2·R; or none.
template <class Real>
std::optional<Failure> gradient_differs(const Failure& failure, const std::vector<NamedWeight<Real>>& gradient,
                                        const Real& a_1, const std::vector<NamedWeight<Real>>& L, const Real& a_2,
                                        const std::vector<NamedWeight<Real>>& R) {
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    const auto& weight = gradient[k];
    std::vector<Real> expected;
    for (std::size_t e = 0; e < weight.size(); ++e) expected.push_back(a_1 * L[k].numbers[e] + a_2 * R[k].numbers[e]);
    if (auto found =
            first_difference_of_numbers<Real>(failure, weight.numbers, expected.data(), weight.rows, weight.cols)) {
      found->entry = weight.path + ", " + found->entry;
      return found;
    }
  }
  return std::nullopt;
}

/// T has one value_and_pullback for layers that have a name and for temporary ones, which do not outlive the pullback.
template <class T>
concept TakesTemporaries = requires {
  &T::value_and_pullback;
};

/// Whether T's pullback falls short of a requirement, on a stack of a sequence of one row and on one of two sequences:
///
///   linear    what it makes of a·w₁ + w₂ is a times what it makes of w₁ plus what it makes of w₂;
///   adds      applied to w₂ with the gradient that w₁ has left, it adds to that;
///   again     applied to w₁ once more, it returns the same;
///   outlives  and so it does where the layer's weights have changed: it does not refer to them.
template <template <class> class Layer, class Real>
std::optional<Failure> pullback_fails(std::string_view name, Requirement requirement, std::uint64_t seed,
                                      const Limits& limits = {}) {
  using T = Layer<Real>;
  const auto on = [&](const Sequences& sequences, Generator& generator) -> std::optional<Failure> {
    auto layer = draw_layer<T>(generator);
    const auto X = draw_input<typename T::domain>(sequences, generator, limits);
    const auto result = layer.value_and_pullback(X);
    const auto w_1 = draw_matrix<typename T::codomain>(result.value.sequences(), generator, limits);
    const auto w_2 = draw_matrix<typename T::codomain>(result.value.sequences(), generator, limits);
    const Real a = draw<Real>(generator);
    T gradient_1, gradient_2, gradient;
    const auto v_1 = pulled_back(result, w_1, gradient_1, X);
    const auto v_2 = pulled_back(result, w_2, gradient_2, X);

    const Failure failure = failure_to_be(requirement);
    std::optional<Failure> found;
    // The gradient is to be a_1 times that which w_1 makes alone, plus a_2 times that which w_2 makes.
    Real a_1(1), a_2(0);
    switch (requirement) {
      case Requirement::linear:
        found =
            first_difference(failure, result.pullback(combination(a, w_1, w_2), gradient), combination(a, v_1, v_2));
        a_1 = a;
        a_2 = Real(1);
        break;
      case Requirement::adds:
        result.pullback(w_1, gradient);
        found = first_difference(failure, result.pullback(w_2, gradient), v_2);
        a_2 = Real(1);
        break;
      case Requirement::again:
        found = first_difference(failure, result.pullback(w_1, gradient), v_1, 0, SameBits{});
        break;
      case Requirement::outlives:
        for (const auto& weight : parameters(layer))
          for (Real& w : weight) w = draw<Real>(generator);
        found = first_difference(failure, result.pullback(w_1, gradient), v_1);
    }
    if (!found)
      found = gradient_differs(failure, named_weights(gradient), a_1, named_weights(gradient_1), a_2,
                               named_weights(gradient_2));
    return found;
  };
  auto found = on_stacks(name, arithmetic<Real>(), seed, stacks(limits, {{1}, {2, 3}}), on);
  if (found && requirement == Requirement::outlives)
    found->remark =
        "value_and_pullback is to be const&, and to have auto value_and_pullback(domain) const&& { return "
        "tlm::refuse_temporary<" +
        std::string(name) + ">(); } beside it";
  return found;
}

/// The failure that a row of X̄ depends on other rows of Ȳ than the claim allows, at n rows.
inline Failure depends_backwards(std::string_view layer, Claim claim, std::size_t n) {
  Failure failure =
      failure_of(claim == Claim::rowwise ? "X̄_i depends on no Ȳ_j with j ≠ i" : "X̄_i depends on no Ȳ_j with j < i",
                 "it depends on the rows of X | of Ȳ", "and of Ȳ may depend on");
  failure.layer = layer;
  failure.arithmetic = arithmetic<Positions>();
  failure.n = n;
  return failure;
}

/// Whether row i of X̄ depends on a row j < i of Ȳ; for a rowwise operation, on another row than i. For every input and
/// all weights of that shape. Not for tokens.
template <template <class> class Layer>
std::optional<Failure> anti_causality_fails(std::string_view name, Claim claim = Claim::autoregressive,
                                            const Limits& limits = {}) {
  using T = Layer<Positions>;
  Generator generator{0};
  const auto layer = draw_layer<T>(generator);
  for (std::size_t n = 1; n <= limits.rows; ++n) {
    const auto X = tagged<typename T::domain>(Sequences{n});
    const auto result = layer.value_and_pullback(X);
    typename T::codomain Y_bar{result.value.sequences()};
    for (std::size_t i = 0; i < Y_bar.rows(); ++i)
      for (std::size_t j = 0; j < T::codomain::cols; ++j) Y_bar(i, j) = Positions::codomain_position(i);
    T gradient;
    const auto X_bar = pulled_back(result, Y_bar, gradient, X);
    for (std::size_t i = 0; i < n; ++i) {
      Positions allowed{1};
      for (std::size_t j = i; j < (claim == Claim::rowwise ? i + 1 : n); ++j)
        allowed += Positions::codomain_position(j);
      for (std::size_t j = 0; j < T::domain::cols; ++j)
        if ((X_bar(i, j).tags() >> 32 & ~(allowed.tags() >> 32)) != 0) {
          Failure found = with_sets(depends_backwards(name, claim, n), i, j, X_bar(i, j), allowed);
          found.i = i + 1;
          return found;
        }
    }
  }
  return std::nullopt;
}

}  // namespace tlm::checking
