// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/layer.hpp>

namespace tlm {

/// Whether G takes what F returns.
template <class DomainOfG, class CodomainOfF>
inline constexpr bool composable = std::is_same_v<DomainOfG, CodomainOfF> || std::is_same_v<DomainOfG, Anything> ||
                                   std::is_same_v<CodomainOfF, Anything>;

/// The condition under which G ∘ F exists. A failure shows both types.
template <class DomainOfG, class CodomainOfF>
struct DomainIs {
  static constexpr bool value = true;  // If not, the next line says so: once.
  static_assert(composable<DomainOfG, CodomainOfF>, "in a composition G∘F the codomain of F is the domain of G");
};

/// F_1 ∘ … ∘ F_k, of layers; the last is applied first.
template <class... Factors>
struct Composition;

/// The composition of one factor is that factor.
template <class F>
struct Composition<F> : F {};
template <class F>
struct IsLayer<Composition<F>> : IsLayer<F> {};
template <class F>
struct DeclaresOrFollows<Composition<F>> : DeclaresOrFollows<F> {};

/// G ∘ F ∘ …: X ↦ G(F(…(X))). Factors stand in the order of the write-up: the last one is applied first.
template <class G, class... Fs>
struct Composition<G, Fs...> {
  using F = Composition<Fs...>;
  using form = forms::Composition<G, Fs...>;
  using domain = DomainOf<F>;
  using codomain = CodomainOf<G>;
  static_assert(IsLayer<G>::value && (IsLayer<Fs>::value && ...));
  static_assert(DomainIs<DomainOf<G>, CodomainOf<F>>::value);
  static constexpr bool fits = composable<DomainOf<G>, CodomainOf<F>>;

  G g;
  F f;

  template <class... Entries>
  codomain operator()(domain X, const Entries&... entries) const {
    return apply(g, apply(f, std::move(X), entries...), entries...);
  }

  /// The chain rule: (G∘F)′(X) = G′(F(X)) F′(X), whose transpose is F′(X)ᵀ G′(F(X))ᵀ: first back through G, then F.
  template <class... Entries>
  auto value_and_pullback(domain X, const Entries&... entries) const& {
    auto [F_X, F_pullback] = differentiate(f, std::move(X), entries...);
    auto [Y, G_pullback] = differentiate(g, std::move(F_X), entries...);
    auto pullback = [F_pullback = std::move(F_pullback), G_pullback = std::move(G_pullback)](
                        codomain Y_bar, Composition& gradient, Entries&... entry_gradients) {
      return F_pullback(G_pullback(std::move(Y_bar), gradient.g, entry_gradients...), gradient.f, entry_gradients...);
    };
    return with_pullback_of_parts(std::move(Y), std::move(pullback));
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<Composition>(); }

  /// What G and F remember.
  struct State {
    tlm::State<G> g;
    tlm::State<F> f;
  };

  template <class... Entries>
  codomain extend(State& state, domain X, const Entries&... entries) const {
    return advance(g, state.g, advance(f, state.f, std::move(X), entries...), entries...);
  }

  static constexpr void parts(auto&& visit, auto&... layer) {
    visit(0, layer.f...);
    visit(0, layer.g...);
  }
};

}  // namespace tlm
