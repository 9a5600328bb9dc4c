// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tlm/algebra/application.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/matrix/sequences.hpp>

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
  codomain operator()(const domain& X, const auto&... environment) const {
    return apply(f, memory_for(X, environment...), environment...);
  }

  /// X̄ = 0, and M̄ += F′(M)ᵀȲ in the gradient of the memory.
  template <class... Environment>
  auto value_and_pullback(const domain& X, const Environment&... environment) const& {
    auto [Y, F_pullback] = differentiate(f, memory_for(X, environment...), environment...);
    return detail::Result{std::move(Y),
                          [sequences = X.sequences(), F_pullback = std::move(F_pullback)](
                              codomain Y_bar, FromMemory& gradient, Environment&... environment_gradient) {
                            detail::read<FromMemory>(environment_gradient...).rows +=
                                F_pullback(std::move(Y_bar), gradient.f, environment_gradient...);
                            return domain{sequences};
                          }};
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<FromMemory>(); }

  /// True once F(M) has been computed.
  struct State {
    bool computed = false;
  };

  /// The first call returns all rows of F(M); later calls return none.
  codomain extend(State& state, const domain& X, const auto&... environment) const {
    if (std::exchange(state.computed, true))
      return codomain{Sequences::of_lengths(std::vector<std::size_t>(X.sequences().count(), 0))};
    return (*this)(X, environment...);
  }

  static constexpr void parts(auto&& visit, auto& layer) { visit(0, layer.f); }

 private:
  static const domain& memory_for(const domain& X, const auto&... environment) {
    const domain& M = detail::read<FromMemory>(environment...).rows;
    detail::require_memory(M.sequences(), X.sequences());
    return M;
  }
};

/// A source x for the encoder and a target y for the decoder: a sequence of x, not empty, for each of y.
template <class Source, class Target>
struct SourceAndTarget {
  Source x;
  Target y;
};

/// (x, y) ↦ D(y; E(x)): every layer of the decoder D may read the memory E(x).
template <class Encoder, class Decoder>
struct EncoderDecoder {
  using form = forms::EncoderDecoder<Encoder, Decoder>;
  using fits = detail::AreLayers<Encoder, Decoder>;
  static_assert(fits::value);
  using domain = SourceAndTarget<DomainOf<Encoder>, DomainOf<Decoder>>;
  using codomain = CodomainOf<Decoder>;
  using provides = Memory<CodomainOf<Encoder>>;

  Encoder encoder;
  Decoder decoder;

  /// Throws what the encoder and the decoder throw.
  codomain operator()(domain X, const auto&... environment) const {
    const provides memory{apply(encoder, std::move(X.x), environment...)};
    return apply(decoder, std::move(X.y), memory, environment...);
  }

  /// The chain rule for D(y; M) at M = E(x): dL = ⟨ȳ, dy⟩ + ⟨M̄, dM⟩ with dM = E′(x)dx. Back through D, which adds up M̄
  /// wherever the memory is read. Then back through E: x̄ = E′(x)ᵀM̄.
  template <class... Environment>
  auto value_and_pullback(domain X, const Environment&... environment) const& {
    auto [M, E_pullback] = differentiate(encoder, std::move(X.x), environment...);
    const provides memory{std::move(M)};
    auto [Y, D_pullback] = differentiate(decoder, std::move(X.y), memory, environment...);
    return detail::Result{
        std::move(Y),
        [sequences = memory.rows.sequences(), E_pullback = std::move(E_pullback), D_pullback = std::move(D_pullback)](
            codomain Y_bar, EncoderDecoder& gradient, Environment&... environment_gradient) {
          provides M_bar{CodomainOf<Encoder>{sequences}};
          auto y_bar = D_pullback(std::move(Y_bar), gradient.decoder, M_bar, environment_gradient...);
          auto x_bar = E_pullback(std::move(M_bar.rows), gradient.encoder, environment_gradient...);
          return SourceAndTarget<decltype(x_bar), decltype(y_bar)>{std::move(x_bar), std::move(y_bar)};
        }};
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<EncoderDecoder>(); }

  /// The memory, once the source is encoded, and what the decoder remembers.
  struct State {
    provides memory;
    tlm::State<Decoder> decoder;
  };

  /// The source is read with the first rows of the target, and not later.
  codomain extend(State& state, domain X, const auto&... environment) const {
    if (state.memory.rows.sequences().count() == 0) state.memory = {apply(encoder, std::move(X.x), environment...)};
    detail::require_memory(state.memory.rows.sequences(), X.y.sequences());
    return advance(decoder, state.decoder, std::move(X.y), state.memory, environment...);
  }

  static constexpr void parts(auto&& visit, auto& layer) {
    visit(0, layer.encoder);
    visit(0, layer.decoder);
  }
};

/// X ↦ F(X; G(M)): F reads the memory G(M) instead of M. G(M) is computed once. So this is the encoder–decoder (M, X) ↦
/// F(X; G(M)); its source is the memory M.
template <class G, class F>
struct ThroughMemory : EncoderDecoder<G, F> {
  using form = forms::ThroughMemory<G, F>;
  using domain = DomainOf<F>;
  using codomain = CodomainOf<F>;
  using reads = Memory<DomainOf<G>>;
  using Base = EncoderDecoder<G, F>;

  codomain operator()(const domain& X, const auto&... environment) const {
    return Base::operator()({detail::read<ThroughMemory>(environment...).rows, X}, environment...);
  }

  /// M̄ += the cotangent of the source, which is M.
  template <class... Environment>
  auto value_and_pullback(const domain& X, const Environment&... environment) const& {
    const auto& M = detail::read<ThroughMemory>(environment...).rows;
    auto [Y, pullback] = Base::value_and_pullback({M, X}, environment...);
    return detail::Result{std::move(Y), [pullback = std::move(pullback)](codomain Y_bar, ThroughMemory& gradient,
                                                                         Environment&... environment_gradient) {
                            auto bar = pullback(std::move(Y_bar), gradient, environment_gradient...);
                            detail::read<ThroughMemory>(environment_gradient...).rows += bar.x;
                            return std::move(bar.y);
                          }};
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<ThroughMemory>(); }

  codomain extend(typename Base::State& state, const domain& X, const auto&... environment) const {
    const auto& M = detail::read<ThroughMemory>(environment...).rows;
    const bool first = state.memory.rows.sequences().count() == 0;  // later M is not read
    return Base::extend(state, {first ? M : DomainOf<G>{}, X}, environment...);
  }
};

}  // namespace tlm
