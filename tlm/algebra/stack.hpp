// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <forward_list>
#include <utility>

#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/layer.hpp>

namespace tlm {

/// F_count ∘ … ∘ F_1: as many layers of one type, each with weights of its own.
template <class F, std::size_t count>
struct Stack {
  using form = forms::Stack<F, count>;
  using domain = DomainOf<F>;
  using codomain = CodomainOf<F>;
  static_assert(count > 0, "a Stack has at least one layer");
  static_assert(IsLayer<F>::value);
  static_assert(DomainIs<domain, codomain>::value);
  static constexpr bool fits = composable<domain, codomain>;

  std::array<F, count> f;

  template <class... Entries>
  codomain operator()(domain X, const Entries&... entries) const {
    for (const F& f_i : f) X = apply(f_i, std::move(X), entries...);
    return X;
  }

  /// The chain rule of Composition, for as many factors: back through F_count first, through F_1 last.
  template <class... Entries>
  auto value_and_pullback(domain X, const Entries&... entries) const& {
    std::forward_list<decltype(differentiate(f[0], X, entries...).pullback)> pullbacks;  // the last layer's first
    for (const F& f_i : f) {
      auto [Y, pullback] = differentiate(f_i, std::move(X), entries...);
      X = std::move(Y);
      pullbacks.push_front(std::move(pullback));
    }
    return with_pullback_of_parts(
        std::move(X), [pullbacks = std::move(pullbacks)](codomain Y_bar, Stack& gradient, Entries&... entry_gradients) {
          std::size_t i = count;
          for (const auto& pullback : pullbacks)
            Y_bar = pullback(std::move(Y_bar), gradient.f[--i], entry_gradients...);
          return Y_bar;
        });
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<Stack>(); }

  /// What each layer remembers.
  struct State {
    std::array<tlm::State<F>, count> f;
  };

  template <class... Entries>
  codomain extend(State& state, domain X, const Entries&... entries) const {
    for (std::size_t i = 0; i < count; ++i) X = advance(f[i], state.f[i], std::move(X), entries...);
    return X;
  }

  static constexpr bool numbers_its_parts = true;
  static constexpr void parts(auto&& visit, auto&... layer) {
    for (std::size_t i = 0; i < count; ++i) visit(i + 1, layer.f[i]...);
  }
};

}  // namespace tlm
