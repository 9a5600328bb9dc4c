// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/extension.hpp>
#include <tlm/algebra/memory.hpp>
#include <tlm/algebra/pullback.hpp>

namespace tlm {

/// X ↦ F(X; G(M)): F reads the memory G(M) in the place of M. G(M) is computed once for all of F.
template <class G, class F>
struct ThroughMemory {
  using form = forms::ThroughMemory<G, F>;
  static_assert(detail::Fits<form>::value);
  using domain = DomainOf<F>;
  using codomain = CodomainOf<F>;
  using reads = Memory<DomainOf<G>>;
  using provides = Memory<CodomainOf<G>>;

  G g;
  F f;

  template <class... Environment>
  codomain operator()(const domain& X, const Environment&... environment) const {
    return apply(f, X, memory(environment...), environment...);
  }

  /// The chain rule for F(X; M′) at M′ = G(M): back through F, which adds up M̄′ wherever the memory is read. Then back
  /// through G: M̄ += G′(M)ᵀM̄′.
  template <class... Environment>
  auto value_and_pullback(const domain& X, const Environment&... environment) const& {
    auto [G_M, G_pullback] = differentiate(g, detail::read<ThroughMemory>(environment...).rows, environment...);
    const provides memory{std::move(G_M)};
    auto [Y, F_pullback] = differentiate(f, X, memory, environment...);
    return with_pullback(std::move(Y), [sequences = memory.rows.sequences(), G_pullback = std::move(G_pullback),
                                        F_pullback = std::move(F_pullback)](codomain Y_bar, ThroughMemory& gradient,
                                                                            Environment&... environment_gradient) {
      provides M_bar = provides::zero(sequences);
      auto X_bar = F_pullback(std::move(Y_bar), gradient.f, M_bar, environment_gradient...);
      detail::read<ThroughMemory>(environment_gradient...).rows +=
          G_pullback(std::move(M_bar.rows), gradient.g, environment_gradient...);
      return X_bar;
    });
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<ThroughMemory>(); }

  /// G(M), once it is computed, and what F remembers.
  struct State {
    provides memory;
    tlm::State<F> f;
  };

  template <class... Environment>
  codomain extend(State& state, const domain& X, const Environment&... environment) const {
    if (state.memory.rows.sequences().count() == 0) state.memory = memory(environment...);
    return advance(f, state.f, X, state.memory, environment...);
  }

  static constexpr void parts(auto&& visit, auto&... layer) {
    visit(0, layer.g...);
    visit(0, layer.f...);
  }

 private:
  template <class... Environment>
  provides memory(const Environment&... environment) const {
    return {apply(g, detail::read<ThroughMemory>(environment...).rows, environment...)};
  }
};

}  // namespace tlm
