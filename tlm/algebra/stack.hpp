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

  codomain operator()(domain X) const {
    for (const F& f_i : f) X = f_i(std::move(X));
    return X;
  }

  /// The chain rule of Composition, for as many factors: back through F_count first, through F_1 last.
  auto value_and_pullback(domain X) const {
    std::vector<decltype(f[0].value_and_pullback(X).pullback)> pullbacks;
    pullbacks.reserve(count);
    for (const F& f_i : f) {
      auto [Y, pullback] = f_i.value_and_pullback(std::move(X));
      X = std::move(Y);
      pullbacks.push_back(std::move(pullback));
    }
    return with_pullback(std::move(X), [pullbacks = std::move(pullbacks)](codomain dY, Stack& gradient) {
      for (std::size_t i = count; i-- > 0;) dY = pullbacks[i](std::move(dY), gradient.f[i]);
      return dY;
    });
  }

  /// What each layer remembers.
  using State = std::array<tlm::State<F>, count>;

  codomain extend(State& state, domain X) const {
    for (std::size_t i = 0; i < count; ++i) X = tlm::extend(f[i], state[i], std::move(X));
    return X;
  }

  static constexpr void weights(auto&& visit, auto&... layer) {
    for (std::size_t i = 0; i < count; ++i) visit_part<F>(visit, i + 1, layer.f[i]...);
  }
};

}  // namespace tlm
