// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/extension.hpp>
#include <tlm/algebra/memory.hpp>
#include <tlm/algebra/pullback.hpp>
#include <tlm/algebra/tied.hpp>

namespace tlm::checking {

/// F in the environment of a memory of its own, the same for every sequence. The rows M of the memory are weights like
/// others. So a decoder is an operation on y alone, and every check of such operations runs over it.
template <class F, std::size_t memory_rows = 3>
struct WithMemory {
  using domain = DomainOf<F>;
  using codomain = CodomainOf<F>;
  using Rows = TiedWeight<"M", memory_rows, domain::cols, typename domain::Real>;
  using form = forms::Tied<Rows, F>;
  using provides = Memory<domain>;

  Rows memory;
  F f;

  codomain operator()(const domain& X) const { return apply(f, X, memory_of(X)); }

  /// Every sequence's memory is M, hence its cotangent is the sum over the sequences.
  auto value_and_pullback(const domain& X) const& {
    const provides M = memory_of(X);
    auto [Y, F_pullback] = differentiate(f, X, M);
    return with_pullback(std::move(Y), [sequences = M.rows.sequences(), F_pullback = std::move(F_pullback)](
                                           codomain Y_bar, WithMemory& gradient) {
      auto M_bar = provides::zero(sequences);
      auto X_bar = F_pullback(std::move(Y_bar), gradient.f, M_bar);
      for (std::size_t i = 0; i < M_bar.rows.rows(); ++i) gradient.memory.W.row(i % memory_rows) += M_bar.rows.row(i);
      return X_bar;
    });
  }

  /// What F remembers.
  using State = tlm::State<F>;
  codomain extend(State& state, const domain& X) const { return advance(f, state, X, memory_of(X)); }

  static constexpr void parts(auto&& visit, auto&... layer) {
    visit(0, layer.memory...);
    visit(0, layer.f...);
  }

 private:
  /// The memory: the rows M for each sequence of X.
  provides memory_of(const domain& X) const {
    provides M{domain{Sequences::of_lengths(std::vector<std::size_t>(X.sequences().count(), memory_rows))}};
    for (std::size_t i = 0; i < M.rows.rows(); ++i) M.rows.row(i) = memory.W.row(i % memory_rows);
    return M;
  }
};

}  // namespace tlm::checking
