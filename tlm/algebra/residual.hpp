// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include <tlm/algebra/application.hpp>

namespace tlm {

/// Res(F)(X) = X + F(X). (Article, "DecoderBlock Definition".)
template <class F>
struct Res {
  using form = forms::Residual<F>;
  using fits = detail::Compose<F, F>;
  static_assert(fits::value);
  using domain = DomainOf<F>;
  using codomain = CodomainOf<F>;

  F f;

  codomain operator()(const domain& X, const auto&... environment) const { return X + apply(f, X, environment...); }

  /// (X + F(X))′ = I + F′(X), whose transpose is I + F′(X)ᵀ.
  template <class... Environment>
  auto value_and_pullback(const domain& X, const Environment&... environment) const& {
    auto [F_X, F_pullback] = differentiate(f, X, environment...);
    return detail::Result{std::move(F_X) + X,
                          [F_pullback = std::move(F_pullback)](const codomain& Y_bar, Res& gradient,
                                                               Environment&... environment_gradient) {
                            return F_pullback(Y_bar, gradient.f, environment_gradient...) + Y_bar;
                          }};
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<Res>(); }

  /// What F remembers.
  using State = tlm::State<F>;

  codomain extend(State& state, const domain& X, const auto&... environment) const {
    return X + advance(f, state, X, environment...);
  }

  static constexpr void parts(auto&& visit, auto& layer) { visit(0, layer.f); }
};

}  // namespace tlm
