// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <tlm/algebra/application.hpp>

namespace tlm {

/// F_count ∘ … ∘ F_1: layers of one type, each with its own weights.
template <class F, std::size_t count>
struct Stack {
  using form = forms::Stack<F, count>;
  using fits = detail::Compose<F, F>;
  static_assert(fits::value);
  static_assert(count > 0, "a Stack has at least one layer");
  using domain = DomainOf<F>;
  using codomain = CodomainOf<F>;

  std::array<F, count> f;

  codomain operator()(domain X, const auto&... environment) const {
    for (const F& f_i : f) X = apply(f_i, std::move(X), environment...);
    return X;
  }

  /// The chain rule of Composition, for `count` factors: back through F_count first, through F_1 last.
  template <class... Environment>
  auto value_and_pullback(domain X, const Environment&... environment) const& {
    using Pullback = decltype(differentiate(f[0], X, environment...).pullback);
    auto pullbacks = std::make_unique<std::optional<Pullback>[]>(count);
    for (std::size_t i = 0; i < count; ++i) {
      auto [Y, pullback] = differentiate(f[i], std::move(X), environment...);
      X = std::move(Y);
      pullbacks[i].emplace(std::move(pullback));
    }
    return detail::Result{std::move(X), [pullbacks = std::move(pullbacks)](codomain Y_bar, Stack& gradient,
                                                                           Environment&... environment_gradient) {
                            for (std::size_t i = count; i-- > 0;)
                              Y_bar = (*pullbacks[i])(std::move(Y_bar), gradient.f[i], environment_gradient...);
                            return Y_bar;
                          }};
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<Stack>(); }

  /// What each layer remembers.
  struct State {
    std::array<tlm::State<F>, count> f;
  };

  codomain extend(State& state, domain X, const auto&... environment) const {
    for (std::size_t i = 0; i < count; ++i) X = advance(f[i], state.f[i], std::move(X), environment...);
    return X;
  }

  static constexpr void parts(auto&& visit, auto& layer) {
    for (std::size_t i = 0; i < count; ++i) visit(i + 1, layer.f[i]);
  }
};

}  // namespace tlm
