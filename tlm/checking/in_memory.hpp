#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/layer.hpp>
#include <tlm/algebra/weights.hpp>

namespace tlm::checking {

/// F in the environment of a memory of its own, the same for every sequence, whose rows M are weights like others: so a
/// decoder is an operation on y alone, and every check of such operations runs over it.
template <class F, std::size_t memory_rows = 3>
struct WithMemory {
  using definition = F;
  using domain = typename F::domain;
  using codomain = typename F::codomain;

  Matrix<memory_rows, domain::cols, typename domain::Real> M;
  F f;

  codomain operator()(const domain& X) const { return f(X, memory(X.sequences().count())); }

  /// Every sequence's memory is M, hence dM is the sum over the sequences.
  auto value_and_pullback(const domain& X) const {
    auto [Y, F_pullback] = f.value_and_pullback(X, memory(X.sequences().count()));
    return with_pullback(std::move(Y), [zero = WithMemory{}.memory(X.sequences().count()),
                                        F_pullback = std::move(F_pullback)](codomain dY, WithMemory& gradient) {
      auto dM = zero;
      auto dX = F_pullback(std::move(dY), gradient.f, dM);
      for (std::size_t i = 0; i < dM.rows.rows(); ++i) gradient.M.add_to_row(i % memory_rows, dM.rows.row(i));
      return dX;
    });
  }

  /// What F remembers.
  struct State {
    tlm::State<F> f;
  };
  codomain extend(State& state, const domain& X) const {
    return tlm::extend(f, state.f, X, memory(X.sequences().count()));
  }

  static constexpr void weights(auto&& visit, auto&... layer) {
    visit(Name{"M"}, layer.M...);
    visit_part<F>(visit, 0, layer.f...);
  }

 private:
  Memory<domain> memory(std::size_t sequences) const {
    Memory<domain> memory{domain{Sequences::of_lengths(std::vector<std::size_t>(sequences, memory_rows))}};
    for (std::size_t i = 0; i < memory.rows.rows(); ++i) memory.rows.set_row(i, M.row(i % memory_rows));
    return memory;
  }
};

}  // namespace tlm::checking
