// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/extension.hpp>
#include <tlm/algebra/memory.hpp>
#include <tlm/algebra/pullback.hpp>

namespace tlm {

/// A source x for the encoder and a target y for the decoder: a sequence of x, not empty, for each of y.
template <class Source, class Target>
struct SourceAndTarget {
  Source x;
  Target y;

  /// (x, y)|i = (x, y|i): what the decoder has read is reduced, the source is not.
  friend SourceAndTarget operator|(const SourceAndTarget& pair, std::size_t i) { return {pair.x, pair.y | i}; }
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
  template <class... Environment>
  codomain operator()(domain X, const Environment&... environment) const {
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
    return with_pullback(std::move(Y), [sequences = memory.rows.sequences(), E_pullback = std::move(E_pullback),
                                        D_pullback = std::move(D_pullback)](codomain Y_bar, EncoderDecoder& gradient,
                                                                            Environment&... environment_gradient) {
      provides M_bar{{sequences, typename CodomainOf<Encoder>::Real(0)}};
      auto y_bar = D_pullback(std::move(Y_bar), gradient.decoder, M_bar, environment_gradient...);
      auto x_bar = E_pullback(std::move(M_bar.rows), gradient.encoder, environment_gradient...);
      return SourceAndTarget<decltype(x_bar), decltype(y_bar)>{std::move(x_bar), std::move(y_bar)};
    });
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<EncoderDecoder>(); }

  /// The memory, once the source is encoded, and what the decoder remembers.
  struct State {
    provides memory;
    tlm::State<Decoder> decoder;
  };

  /// The source is read with the first rows of the target, and not later.
  template <class... Environment>
  codomain extend(State& state, domain X, const Environment&... environment) const {
    if (state.memory.rows.sequences().count() == 0) state.memory = {apply(encoder, std::move(X.x), environment...)};
    detail::require_memory(state.memory.rows.sequences(), X.y.sequences());
    return advance(decoder, state.decoder, std::move(X.y), state.memory, environment...);
  }

  static constexpr void parts(auto&& visit, auto& layer) {
    visit(0, layer.encoder);
    visit(0, layer.decoder);
  }
};

}  // namespace tlm
