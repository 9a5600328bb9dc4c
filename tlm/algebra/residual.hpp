// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/layer.hpp>

namespace tlm {

/// Res(F)(X) = X + F(X). (Article, "DecoderBlock Definition".)
template <class F>
struct Res {
  using form = forms::Residual<F>;
  using domain = DomainOf<F>;
  using codomain = CodomainOf<F>;
  static_assert(IsLayer<F>::value);
  static_assert(DomainIs<domain, codomain>::value);
  static constexpr bool fits = composable<domain, codomain>;

  F f;

  template <class... Entries>
  codomain operator()(const domain& X, const Entries&... entries) const {
    return X + apply(f, X, entries...);
  }

  /// (X + F(X))′ = I + F′(X), and so its transpose.
  template <class... Entries>
  auto value_and_pullback(const domain& X, const Entries&... entries) const& {
    auto [F_X, F_pullback] = differentiate(f, X, entries...);
    return with_pullback_of_parts(
        std::move(F_X) + X,
        [F_pullback = std::move(F_pullback)](const codomain& Y_bar, Res& gradient, Entries&... entry_gradients) {
          return Y_bar + F_pullback(Y_bar, gradient.f, entry_gradients...);
        });
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<Res>(); }

  /// What F remembers.
  struct State {
    tlm::State<F> f;
  };

  template <class... Entries>
  codomain extend(State& state, const domain& X, const Entries&... entries) const {
    return X + advance(f, state.f, X, entries...);
  }

  static constexpr void parts(auto&& visit, auto&... layer) { visit(0, layer.f...); }
};

}  // namespace tlm
