// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/pullback.hpp>
#include <tlm/base/refuse.hpp>

namespace tlm {

/// What a decoder reads beside its own sequence: the encoder's output M, an item of the environment.
template <class Rows>
struct Memory {
  Rows rows;
};

namespace detail {

/// Throws std::invalid_argument if the memory has an empty sequence, or not one sequence for each target.
inline void require_memory(const Sequences& memory, const Sequences& targets) {
  if (memory.count() != targets.count())
    refuse<std::invalid_argument>(
        {"a memory of ", memory.count(), " sequences does not serve ", targets.count(), " targets"});
  for (std::size_t s = 0; s < memory.count(); ++s)
    if (memory.length(s) == 0)
      refuse<std::invalid_argument>({"sequence ", s + 1, " of the memory is empty: attention needs a row to look at"});
}

}  // namespace detail

/// X ↦ F(M), where M is the memory. Independent of X.
template <class F>
struct FromMemory {
  using form = forms::OfMemory<F>;
  using fits = detail::AreLayers<F>;
  static_assert(fits::value);
  using domain = DomainOf<F>;
  using codomain = CodomainOf<F>;
  using reads = Memory<domain>;

  F f;

  /// Throws what require_memory throws.
  template <class... Environment>
  codomain operator()(const domain& X, const Environment&... environment) const {
    return apply(f, memory_for(X, environment...), environment...);
  }

  /// X̄ = 0, and M̄ += F′(M)ᵀȲ in the gradient of the memory.
  template <class... Environment>
  auto value_and_pullback(const domain& X, const Environment&... environment) const& {
    auto [Y, F_pullback] = differentiate(f, memory_for(X, environment...), environment...);
    return with_pullback(std::move(Y), [sequences = X.sequences(), F_pullback = std::move(F_pullback)](
                                           codomain Y_bar, FromMemory& gradient, Environment&... environment_gradient) {
      detail::read<FromMemory>(environment_gradient...).rows +=
          F_pullback(std::move(Y_bar), gradient.f, environment_gradient...);
      return domain{sequences, typename domain::Real(0)};
    });
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<FromMemory>(); }

  /// True once F(M) has been computed.
  struct State {
    bool computed = false;
  };

  /// The first call returns all rows of F(M); later calls return none.
  template <class... Environment>
  codomain extend(State& state, const domain& X, const Environment&... environment) const {
    if (std::exchange(state.computed, true))
      return codomain{Sequences::of_lengths(std::vector<std::size_t>(X.sequences().count(), 0))};
    return (*this)(X, environment...);
  }

  static constexpr void parts(auto&& visit, auto& layer) { visit(0, layer.f); }

 private:
  template <class... Environment>
  static const domain& memory_for(const domain& X, const Environment&... environment) {
    const domain& M = detail::read<FromMemory>(environment...).rows;
    detail::require_memory(M.sequences(), X.sequences());
    return M;
  }
};

}  // namespace tlm
