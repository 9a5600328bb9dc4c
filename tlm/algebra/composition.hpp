// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include <tlm/algebra/application.hpp>

namespace tlm {

/// F_1 ∘ … ∘ F_k, of layers: F_1 ∘ (F_2 ∘ … ∘ F_k). The last one is applied first.
template <class F_1, class F_2, class... Fs>
struct Composition : Composition<F_1, Composition<F_2, Fs...>> {
  using form = forms::Composition<F_1, F_2, Fs...>;
};

/// G ∘ F: X ↦ G(F(X)).
template <class G, class F>
struct Composition<G, F> {
  using form = forms::Composition<G, F>;
  using fits = detail::Compose<G, F>;
  static_assert(fits::value);
  using domain = DomainOf<F>;
  using codomain = CodomainOf<G>;

  G g;
  F f;

  codomain operator()(domain X, const auto&... environment) const {
    return apply(g, apply(f, std::move(X), environment...), environment...);
  }

  /// The chain rule: (G∘F)′(X) = G′(F(X)) F′(X), whose transpose is F′(X)ᵀ G′(F(X))ᵀ: first back through G, then F.
  template <class... Environment>
  auto value_and_pullback(domain X, const Environment&... environment) const& {
    auto [F_X, F_pullback] = differentiate(f, std::move(X), environment...);
    auto [Y, G_pullback] = differentiate(g, std::move(F_X), environment...);
    return detail::Result{std::move(Y),
                          [F_pullback = std::move(F_pullback), G_pullback = std::move(G_pullback)](
                              codomain Y_bar, Composition& gradient, Environment&... environment_gradient) {
                            return F_pullback(G_pullback(std::move(Y_bar), gradient.g, environment_gradient...),
                                              gradient.f, environment_gradient...);
                          }};
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<Composition>(); }

  /// What G and F remember.
  struct State {
    tlm::State<G> g;
    tlm::State<F> f;
  };

  codomain extend(State& state, domain X, const auto&... environment) const {
    auto F_X = advance(f, state.f, std::move(X), environment...);
    if constexpr (constant<F>)  // the first call returns all of its rows
      return apply(g, std::move(F_X), environment...);
    else
      return advance(g, state.g, std::move(F_X), environment...);
  }

  static constexpr void parts(auto&& visit, auto& layer) {
    visit(0, layer.f);
    visit(0, layer.g);
  }
};

}  // namespace tlm
