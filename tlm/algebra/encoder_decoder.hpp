#pragma once

#include <cstddef>
#include <utility>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/weights.hpp>

namespace tlm {

/// What a decoder reads beside its own sequence: the encoder's output, an entry of the environment.
template <class Rows>
struct Memory {
  Rows rows;
};

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
  using definition = EncoderDecoder;
  using domain = SourceAndTarget<typename Encoder::domain, typename Decoder::domain>;
  using codomain = typename Decoder::codomain;
  using MemoryOfX = Memory<typename Encoder::codomain>;

  Encoder encoder;
  Decoder decoder;

  template <class... Entries>
  codomain operator()(domain X, const Entries&... entries) const {
    const MemoryOfX memory{apply(encoder, std::move(X.x), entries...)};
    return apply(decoder, std::move(X.y), memory, entries...);
  }

  /// The chain rule for D(y; M) at M = E(x): dL = ⟨∂L/∂y, dy⟩ + ⟨∂L/∂M, dM⟩ with dM = E′(x)dx. Back through D, which
  /// adds up ∂L/∂M wherever the memory is read; then with it back through E.
  template <class... Entries>
  auto value_and_pullback(domain X, const Entries&... entries) const {
    auto [M, E_pullback] = differentiate(encoder, std::move(X.x), entries...);
    const MemoryOfX memory{std::move(M)};
    auto [Y, D_pullback] = differentiate(decoder, std::move(X.y), memory, entries...);
    return with_pullback(std::move(Y), [sequences = memory.rows.sequences(), E_pullback = std::move(E_pullback),
                                        D_pullback = std::move(D_pullback)](codomain dY, EncoderDecoder& gradient,
                                                                            Entries&... entry_gradients) {
      using Rows = typename Encoder::codomain;
      MemoryOfX dM{Rows{sequences, typename Rows::Real(0)}};
      auto dy = D_pullback(std::move(dY), gradient.decoder, dM, entry_gradients...);
      auto dx = E_pullback(std::move(dM.rows), gradient.encoder, entry_gradients...);
      return SourceAndTarget<decltype(dx), decltype(dy)>{std::move(dx), std::move(dy)};
    });
  }

  /// The memory, once the source is encoded, and what the decoder remembers.
  struct State {
    MemoryOfX memory;
    tlm::State<Decoder> decoder;
  };

  /// The source is read with the first rows of the target; later it is not looked at.
  template <class... Entries>
  codomain extend(State& state, domain X, const Entries&... entries) const {
    if (state.memory.rows.sequences().count() == 0) state.memory.rows = apply(encoder, std::move(X.x), entries...);
    return tlm::extend(decoder, state.decoder, std::move(X.y), state.memory, entries...);
  }

  static constexpr void weights(auto&& visit, auto&... layer) {
    visit_part<Encoder>(visit, 0, layer.encoder...);
    visit_part<Decoder>(visit, 0, layer.decoder...);
  }
};

}  // namespace tlm
