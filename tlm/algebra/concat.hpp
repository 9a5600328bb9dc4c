// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/layer.hpp>
#include <tlm/matrix/rearranged.hpp>

namespace tlm {

/// X ↦ Concat(F(X), G(X), …): the rows of F(X), of G(X), … side by side.
template <class F, class... Gs>
struct Concat {
  using G = Concat<Gs...>;
  using form = forms::Concat<F, Gs...>;
  using domain = DomainOf<F>;
  using codomain = Matrix<n, F::codomain::cols + G::codomain::cols, typename F::codomain::Real>;
  static_assert(IsLayer<F>::value && (IsLayer<Gs>::value && ...));
  static_assert((std::is_same_v<domain, typename Gs::domain> && ...),
                "layers that are concatenated take the same X: they have the same domain");

  F f;
  G g;

  template <class... Entries>
  codomain operator()(const domain& X, const Entries&... entries) const {
    return side_by_side(apply(f, X, entries...), apply(g, X, entries...));
  }

  /// Each of them receives its columns of Ȳ, and X what both return: X̄ = F′(X)ᵀȲ_F + G′(X)ᵀȲ_G.
  template <class... Entries>
  auto value_and_pullback(const domain& X, const Entries&... entries) const& {
    auto [F_X, F_pullback] = differentiate(f, X, entries...);
    auto [G_X, G_pullback] = differentiate(g, X, entries...);
    return with_pullback(side_by_side(F_X, G_X),
                         [F_pullback = std::move(F_pullback), G_pullback = std::move(G_pullback)](
                             const codomain& Y_bar, Concat& gradient, Entries&... entry_gradients) {
                           constexpr std::size_t left = F::codomain::cols, right = G::codomain::cols;
                           return F_pullback(columns<left>(Y_bar, 0), gradient.f, entry_gradients...) +
                                  G_pullback(columns<right>(Y_bar, left), gradient.g, entry_gradients...);
                         });
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<Concat>(); }

  /// What both remember.
  struct State {
    tlm::State<F> f;
    tlm::State<G> g;
  };

  template <class... Entries>
  codomain extend(State& state, const domain& X, const Entries&... entries) const {
    auto F_X = advance(f, state.f, X, entries...);
    return side_by_side(F_X, advance(g, state.g, X, entries...));
  }

  static constexpr void parts(auto&& visit, auto&... layer) {
    visit(0, layer.f...);
    visit(0, layer.g...);
  }
};

/// The concatenation of one layer is that layer.
template <class F>
struct Concat<F> : F {};
template <class F>
struct IsLayer<Concat<F>> : IsLayer<F> {};
template <class F>
struct DeclaresOrFollows<Concat<F>> : DeclaresOrFollows<F> {};

}  // namespace tlm
