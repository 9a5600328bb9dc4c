#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/layer.hpp>
#include <tlm/algebra/weights.hpp>

namespace tlm {

/// F_count ∘ … ∘ F_1: as many layers of one type, each with weights of its own.
template <class F, std::size_t count>
struct Stack {
  using definition = Stack;
  using domain = typename F::domain;
  using codomain = typename F::codomain;
  static_assert(count > 0, "a Stack has at least one layer");
  static_assert(DomainIs<domain, codomain>::value);

  std::array<F, count> f;

  template <class... Entries>
  codomain operator()(domain X, const Entries&... entries) const {
    for (const F& f_i : f) X = apply(f_i, std::move(X), entries...);
    return X;
  }

  /// The chain rule of Composition, for as many factors: back through F_count first, through F_1 last.
  template <class... Entries>
  auto value_and_pullback(domain X, const Entries&... entries) const {
    std::vector<decltype(differentiate(f[0], X, entries...).pullback)> pullbacks;
    pullbacks.reserve(count);
    for (const F& f_i : f) {
      auto [Y, pullback] = differentiate(f_i, std::move(X), entries...);
      X = std::move(Y);
      pullbacks.push_back(std::move(pullback));
    }
    return with_pullback(std::move(X),
                         [pullbacks = std::move(pullbacks)](codomain dY, Stack& gradient, Entries&... entry_gradients) {
                           for (std::size_t i = count; i-- > 0;)
                             dY = pullbacks[i](std::move(dY), gradient.f[i], entry_gradients...);
                           return dY;
                         });
  }

  /// What each layer remembers.
  struct State {
    std::array<tlm::State<F>, count> f;
  };

  template <class... Entries>
  codomain extend(State& state, domain X, const Entries&... entries) const {
    for (std::size_t i = 0; i < count; ++i) X = tlm::extend(f[i], state.f[i], std::move(X), entries...);
    return X;
  }

  static constexpr void weights(auto&& visit, auto&... layer) {
    for (std::size_t i = 0; i < count; ++i) visit_part<F>(visit, i + 1, layer.f[i]...);
  }
};

}  // namespace tlm
