// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <tlm/algebra/application.hpp>
#include <tlm/algebra/names.hpp>

namespace tlm {

/// A weight matrix W, rows × cols, that a model uses in several places: an item of the environment.
template <Symbol letter, std::size_t rows, std::size_t cols, class Real = float>
struct TiedWeight {
  Matrix<rows, cols, Real> W;

  static constexpr void weights(auto&& visit, auto& item) { visit(letter, item.W); }
};

/// X ↦ F(X; item), where the item belongs to the model: every layer in F that reads such an item reads this one, unless
/// a Tied inside F has another.
///
/// F(X; W, W, …) is differentiated with respect to W in every place, and the places are added up: each reader's
/// pullback adds to the item of the gradient.
template <class Item, class F>
struct Tied {
  using form = forms::Tied<Item, F>;
  using fits = detail::AreLayers<F>;
  static_assert(fits::value);
  using domain = DomainOf<F>;
  using codomain = CodomainOf<F>;

  Item item;
  F f;

  codomain operator()(domain X, const auto&... environment) const {
    return apply(f, std::move(X), item, environment...);
  }

  template <class... Environment>
  auto value_and_pullback(domain X, const Environment&... environment) const& {
    auto [Y, F_pullback] = differentiate(f, std::move(X), item, environment...);
    return detail::Result{std::move(Y), [F_pullback = std::move(F_pullback)](codomain Y_bar, Tied& gradient,
                                                                             Environment&... environment_gradient) {
                            return F_pullback(std::move(Y_bar), gradient.f, gradient.item, environment_gradient...);
                          }};
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<Tied>(); }

  /// What F remembers.
  using State = tlm::State<F>;

  codomain extend(State& state, domain X, const auto&... environment) const {
    return advance(f, state, std::move(X), item, environment...);
  }

  static constexpr void parts(auto&& visit, auto& layer) {
    visit(0, layer.item);
    visit(0, layer.f);
  }
};

}  // namespace tlm
