// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/memory.hpp>

namespace tlm {

/// A source x for the encoder and a target y for the decoder: as many sequences of each, of any lengths.
template <class Source, class Target>
struct SourceAndTarget {
  Source x;
  Target y;

  /// (x, y)|i = (x, y|i): what the decoder has read is reduced, the source is not.
  friend SourceAndTarget operator|(const SourceAndTarget& pair, std::size_t i) { return {pair.x, pair.y | i}; }
};

/// (x, y) ↦ D(y; E(x)), where every layer of the decoder D may read the memory E(x).
template <class Encoder, class Decoder>
struct EncoderDecoder {
  using form = forms::EncoderDecoder<Encoder, Decoder>;
  using domain = SourceAndTarget<DomainOf<Encoder>, DomainOf<Decoder>>;
  using codomain = CodomainOf<Decoder>;
  using MemoryOfX = Memory<CodomainOf<Encoder>>;
  using provides = MemoryOfX;
  static_assert(IsLayer<Encoder>::value && IsLayer<Decoder>::value);

  Encoder encoder;
  Decoder decoder;

  /// Throws what the encoder and the decoder throw, and like require_memory.
  template <class... Entries>
  codomain operator()(domain X, const Entries&... entries) const {
    const MemoryOfX memory{apply(encoder, std::move(X.x), entries...)};
    return apply(decoder, std::move(X.y), memory, entries...);
  }

  /// The chain rule for D(y; M) at M = E(x): dL = ⟨∂L/∂y, dy⟩ + ⟨M̄, dM⟩ with dM = E′(x)dx. Back through D, which
  /// adds up M̄ = ∂L/∂M wherever the memory is read; then with it back through E.
  template <class... Entries>
  auto value_and_pullback(domain X, const Entries&... entries) const& {
    auto [M, E_pullback] = differentiate(encoder, std::move(X.x), entries...);
    const MemoryOfX memory{std::move(M)};
    auto [Y, D_pullback] = differentiate(decoder, std::move(X.y), memory, entries...);
    return with_pullback(std::move(Y), [sequences = memory.rows.sequences(), E_pullback = std::move(E_pullback),
                                        D_pullback = std::move(D_pullback)](codomain Y_bar, EncoderDecoder& gradient,
                                                                            Entries&... entry_gradients) {
      using Rows = typename Encoder::codomain;
      MemoryOfX M_bar{Rows{sequences, typename Rows::Real(0)}};
      auto y_bar = D_pullback(std::move(Y_bar), gradient.decoder, M_bar, entry_gradients...);
      auto x_bar = E_pullback(std::move(M_bar.rows), gradient.encoder, entry_gradients...);
      return SourceAndTarget<decltype(x_bar), decltype(y_bar)>{std::move(x_bar), std::move(y_bar)};
    });
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<EncoderDecoder>(); }

  /// The memory, once the source is encoded, and what the decoder remembers.
  struct State {
    MemoryOfX memory;
    tlm::State<Decoder> decoder;
  };

  /// The source is read with the first rows of the target; later it is not looked at.
  template <class... Entries>
  codomain extend(State& state, domain X, const Entries&... entries) const {
    if (state.memory.rows.sequences().count() == 0) {
      require_memory(X.x.sequences(), X.y.sequences());
      state.memory = {apply(encoder, std::move(X.x), entries...)};
    }
    require_memory(state.memory.rows.sequences(), X.y.sequences());
    return advance(decoder, state.decoder, std::move(X.y), state.memory, entries...);
  }

  static constexpr void parts(auto&& visit, auto&... layer) {
    visit(0, layer.encoder...);
    visit(0, layer.decoder...);
  }
};

}  // namespace tlm
