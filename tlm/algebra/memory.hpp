// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/layer.hpp>
#include <tlm/base/refuse.hpp>

namespace tlm {

/// What a decoder reads beside its own sequence: the encoder's output M, an entry of the environment.
template <class Rows>
struct Memory {
  Rows rows;
};

/// Throws std::invalid_argument for a memory with an empty sequence, or with other than one sequence for each target.
inline void require_memory(const Sequences& memory, const Sequences& targets) {
  if (memory.count() != targets.count())
    refuse<std::invalid_argument>(
        {"a memory of ", memory.count(), " sequences does not serve ", targets.count(), " targets"});
  for (std::size_t s = 0; s < memory.count(); ++s)
    if (memory.length(s) == 0)
      refuse<std::invalid_argument>({"sequence ", s + 1, " of the memory is empty: attention needs a row to look at"});
}

/// X ↦ F(M), where M is the memory. Does not depend on X.
template <class F>
struct FromMemory {
  using form = forms::OfMemory<F>;
  using domain = DomainOf<F>;
  using codomain = CodomainOf<F>;
  using reads = Memory<domain>;
  static_assert(IsLayer<F>::value);

  F f;

  /// Throws like require_memory.
  template <class... Entries>
  codomain operator()(const domain& X, const Entries&... entries) const {
    return apply(f, checked(X, entries...), entries...);
  }

  /// X̄ = 0, and M̄ += F′(M)ᵀȲ in the gradient of the memory.
  template <class... Entries>
  auto value_and_pullback(const domain& X, const Entries&... entries) const& {
    auto [Y, F_pullback] = differentiate(f, checked(X, entries...), entries...);
    return with_pullback(std::move(Y), [sequences = X.sequences(), F_pullback = std::move(F_pullback)](
                                           codomain Y_bar, FromMemory& gradient, Entries&... entry_gradients) {
      read<reads>(entry_gradients...).rows += F_pullback(std::move(Y_bar), gradient.f, entry_gradients...);
      return domain{sequences, typename domain::Real(0)};
    });
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<FromMemory>(); }

  /// Whether F(M) has been computed.
  struct State {
    bool computed = false;
  };

  /// The rows that are new: first all of F(M), later none.
  template <class... Entries>
  codomain extend(State& state, const domain& X, const Entries&... entries) const {
    if (state.computed) return codomain{Sequences::of_lengths(std::vector<std::size_t>(X.sequences().count(), 0))};
    codomain Y = (*this)(X, entries...);
    state.computed = true;
    return Y;
  }

  static constexpr void parts(auto&& visit, auto&... layer) { visit(0, layer.f...); }

 private:
  template <class... Entries>
  static const domain& checked(const domain& X, const Entries&... entries) {
    static_assert(FindsEntries<reads_in_vain<FromMemory, Entries...>()>::value);
    const auto& memory = read<const reads>(entries...);
    require_memory(memory.rows.sequences(), X.sequences());
    return memory.rows;
  }
};

/// X ↦ F(X; G(M)): F in the environment of the memory G(M) in the place of M. G is computed once for all of F.
template <class G, class F>
struct ThroughMemory {
  using form = forms::ThroughMemory<G, F>;
  using domain = DomainOf<F>;
  using codomain = CodomainOf<F>;
  using reads = Memory<DomainOf<G>>;
  using provides = Memory<CodomainOf<G>>;
  static_assert(IsLayer<G>::value && IsLayer<F>::value);

  G g;
  F f;

  template <class... Entries>
  codomain operator()(const domain& X, const Entries&... entries) const {
    return apply(f, X, provided(entries...), entries...);
  }

  /// The chain rule for F(X; M′) at M′ = G(M): back through F, which adds up M̄′ wherever the memory is read; then with it
  /// back through G, M̄ += G′(M)ᵀM̄′.
  template <class... Entries>
  auto value_and_pullback(const domain& X, const Entries&... entries) const& {
    auto [G_M, G_pullback] = differentiate(g, read<const reads>(entries...).rows, entries...);
    const provides memory{std::move(G_M)};
    auto [Y, F_pullback] = differentiate(f, X, memory, entries...);
    return with_pullback(std::move(Y), [sequences = memory.rows.sequences(), G_pullback = std::move(G_pullback),
                                        F_pullback = std::move(F_pullback)](codomain Y_bar, ThroughMemory& gradient,
                                                                            Entries&... entry_gradients) {
      using Rows = CodomainOf<G>;
      provides M_bar{Rows{sequences, typename Rows::Real(0)}};
      auto X_bar = F_pullback(std::move(Y_bar), gradient.f, M_bar, entry_gradients...);
      read<reads>(entry_gradients...).rows += G_pullback(std::move(M_bar.rows), gradient.g, entry_gradients...);
      return X_bar;
    });
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<ThroughMemory>(); }

  /// G(M), once it is computed, and what F remembers.
  struct State {
    provides memory;
    tlm::State<F> f;
  };

  template <class... Entries>
  codomain extend(State& state, const domain& X, const Entries&... entries) const {
    if (state.memory.rows.sequences().count() == 0) state.memory = provided(entries...);
    return advance(f, state.f, X, state.memory, entries...);
  }

  static constexpr void parts(auto&& visit, auto&... layer) {
    visit(0, layer.g...);
    visit(0, layer.f...);
  }

 private:
  template <class... Entries>
  provides provided(const Entries&... entries) const {
    return {apply(g, read<const reads>(entries...).rows, entries...)};
  }
};

}  // namespace tlm
