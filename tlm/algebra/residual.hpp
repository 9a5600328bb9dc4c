#pragma once

#include <utility>

#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/layer.hpp>
#include <tlm/algebra/weights.hpp>

namespace tlm {

/// Res(F)(X) = X + F(X). (Article, "DecoderBlock Definition".)
template <class F>
struct Res {
  using definition = Res;
  using domain = typename F::domain;
  using codomain = typename F::codomain;
  static_assert(DomainIs<domain, codomain>::value);

  F f;

  codomain operator()(const domain& X) const { return X + f(X); }

  /// (X + F(X))′ = I + F′(X), and so its transpose.
  auto value_and_pullback(const domain& X) const {
    auto [F_X, F_pullback] = f.value_and_pullback(X);
    return with_pullback(std::move(F_X += X),
                         [F_pullback = std::move(F_pullback)](const codomain& dY, Res& gradient) {
                           return dY + F_pullback(dY, gradient.f);
                         });
  }

  /// What F remembers.
  struct State {
    tlm::State<F> f;
  };

  codomain extend(State& state, const domain& X) const { return X + tlm::extend(f, state.f, X); }

  static constexpr void weights(auto&& visit, auto&... layer) { visit_part<F>(visit, 0, layer.f...); }
};

}  // namespace tlm
