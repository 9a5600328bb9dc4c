// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/pullback.hpp>

namespace tlm {

/// X ↦ F(X; G(M)): F reads the memory G(M) in the place of M. G(M) is computed once for all of F. So it is the
/// encoder–decoder (M, X) ↦ F(X; G(M)), whose source is the memory.
template <class G, class F>
struct ThroughMemory : EncoderDecoder<G, F> {
  using form = forms::ThroughMemory<G, F>;
  using domain = DomainOf<F>;
  using codomain = CodomainOf<F>;
  using reads = Memory<DomainOf<G>>;
  using Base = EncoderDecoder<G, F>;

  template <class... Environment>
  codomain operator()(const domain& X, const Environment&... environment) const {
    return Base::operator()({detail::read<ThroughMemory>(environment...).rows, X}, environment...);
  }

  /// The source is M: its cotangent is added to M̄.
  template <class... Environment>
  auto value_and_pullback(const domain& X, const Environment&... environment) const& {
    const auto& M = detail::read<ThroughMemory>(environment...).rows;
    auto [Y, pullback] = Base::value_and_pullback({M, X}, environment...);
    return with_pullback(std::move(Y), [pullback = std::move(pullback)](codomain Y_bar, ThroughMemory& gradient,
                                                                        Environment&... environment_gradient) {
      auto bar = pullback(std::move(Y_bar), gradient, environment_gradient...);
      detail::read<ThroughMemory>(environment_gradient...).rows += bar.x;
      return std::move(bar.y);
    });
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<ThroughMemory>(); }

  template <class... Environment>
  codomain extend(typename Base::State& state, const domain& X, const Environment&... environment) const {
    const auto& M = detail::read<ThroughMemory>(environment...).rows;
    const bool first = state.memory.rows.sequences().count() == 0;  // later M is not read
    return Base::extend(state, {first ? M : DomainOf<G>{}, X}, environment...);
  }
};

}  // namespace tlm
