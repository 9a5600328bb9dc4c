// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/layer.hpp>
#include <tlm/algebra/symbol.hpp>

namespace tlm {

/// A weight matrix W, rows × cols, that a model reads in several places. Its letter in the write-up is `letter`.
template <Symbol letter, std::size_t rows, std::size_t cols, class Real = float>
struct TiedWeight {
  Matrix<rows, cols, Real> W;

  static constexpr void weights(auto&& visit, auto&... entry) { visit(Name{letter}, entry.W...); }
};

/// F, in the environment of an entry that belongs to the model: every layer in F that reads the entry reads this one.
///
/// As a function of its weights F(X; W, W, …) is differentiated in every place and the places are added up, which the
/// pullbacks of the readers do, in the gradient's entry.
template <class Entry, class F>
struct Tied {
  using form = forms::Tied<Entry, F>;
  using provides = Entry;
  using domain = DomainOf<F>;
  using codomain = CodomainOf<F>;
  static_assert(IsLayer<F>::value);

  Entry entry;
  F f;

  template <class... Entries>
  codomain operator()(domain X, const Entries&... entries) const {
    return apply(f, std::move(X), entry, entries...);
  }

  template <class... Entries>
  auto value_and_pullback(domain X, const Entries&... entries) const& {
    auto [Y, F_pullback] = differentiate(f, std::move(X), entry, entries...);
    return with_pullback(std::move(Y), [F_pullback = std::move(F_pullback)](codomain Y_bar, Tied& gradient,
                                                                            Entries&... entry_gradients) {
      return F_pullback(std::move(Y_bar), gradient.f, gradient.entry, entry_gradients...);
    });
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<Tied>(); }

  /// What F remembers.
  struct State {
    tlm::State<F> f;
  };

  template <class... Entries>
  codomain extend(State& state, domain X, const Entries&... entries) const {
    return advance(f, state.f, std::move(X), entry, entries...);
  }

  static constexpr void parts(auto&& visit, auto&... layer) {
    visit(0, layer.entry...);
    visit(0, layer.f...);
  }
};

}  // namespace tlm
