// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <tlm/algebra/application.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/matrix/matrix.hpp>

namespace tlm {

/// The rows of F and of G side by side. Throws std::invalid_argument unless both have the same sequences.
template <std::size_t left, std::size_t right, class Real>
Matrix<n, left + right, Real> side_by_side(const Matrix<n, left, Real>& F, const Matrix<n, right, Real>& G) {
  require_same_sequences("what is on the left", F.sequences(), "what is on the right", G.sequences());
  Matrix<n, left + right, Real> both{F.sequences()};
  for (std::size_t i = 0; i < both.rows(); ++i) {
    std::copy_n(F.data() + i * left, left, &both(i, 0));
    std::copy_n(G.data() + i * right, right, &both(i, left));
  }
  return both;
}

/// `width` columns of X, the first of which is `first`, from 0. Throws std::out_of_range if X has fewer.
template <std::size_t width, std::size_t cols, class Real>
Matrix<n, width, Real> columns(const Matrix<n, cols, Real>& X, std::size_t first) {
  if (first > cols || width > cols - first)
    refuse<std::out_of_range>({"there are no ", width, " columns from column ", first, " in a matrix with ", cols});
  Matrix<n, width, Real> part{X.sequences()};
  for (std::size_t i = 0; i < X.rows(); ++i) std::copy_n(&X(i, first), width, &part(i, 0));
  return part;
}

/// X ↦ Concat(F_1(X), …, F_k(X)): the rows of F_1(X), F_2(X), … side by side.
template <class F_1, class F_2, class... Fs>
struct Concat : Concat<F_1, Concat<F_2, Fs...>> {
  using form = forms::Concat<F_1, F_2, Fs...>;
};

/// X ↦ Concat(F(X), G(X)).
template <class F, class G>
struct Concat<F, G> {
  using form = forms::Concat<F, G>;
  using fits = detail::AreLayers<F, G>;
  static_assert(fits::value);
  static_assert(std::is_same_v<DomainOf<F>, DomainOf<G>>,
                "layers that are concatenated take the same X: they have the same domain");
  static_assert(std::is_same_v<typename F::codomain::Real, typename G::codomain::Real>,
                "layers that are concatenated return the same kind of numbers: all float, or all double");
  using domain = DomainOf<F>;
  using codomain = Matrix<n, F::codomain::cols + G::codomain::cols, typename F::codomain::Real>;

  F f;
  G g;

  codomain operator()(const domain& X, const auto&... environment) const {
    const auto F_X = apply(f, X, environment...);  // before G
    return side_by_side(F_X, apply(g, X, environment...));
  }

  /// F and G receive their columns of Ȳ: X̄ = F′(X)ᵀȲ_F + G′(X)ᵀȲ_G.
  template <class... Environment>
  auto value_and_pullback(const domain& X, const Environment&... environment) const& {
    auto [F_X, F_pullback] = differentiate(f, X, environment...);
    auto [G_X, G_pullback] = differentiate(g, X, environment...);
    return detail::Result{side_by_side(F_X, G_X),
                          [F_pullback = std::move(F_pullback), G_pullback = std::move(G_pullback)](
                              const codomain& Y_bar, Concat& gradient, Environment&... environment_gradient) {
                            constexpr std::size_t left = F::codomain::cols, right = G::codomain::cols;
                            return F_pullback(columns<left>(Y_bar, 0), gradient.f, environment_gradient...) +
                                   G_pullback(columns<right>(Y_bar, left), gradient.g, environment_gradient...);
                          }};
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<Concat>(); }

  /// What F and G remember.
  struct State {
    tlm::State<F> f;
    tlm::State<G> g;
  };

  codomain extend(State& state, const domain& X, const auto&... environment) const {
    const auto F_X = advance(f, state.f, X, environment...);  // before G
    return side_by_side(F_X, advance(g, state.g, X, environment...));
  }

  static constexpr void parts(auto&& visit, auto& layer) {
    visit(0, layer.f);
    visit(0, layer.g);
  }
};

}  // namespace tlm
