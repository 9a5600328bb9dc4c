// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/extension.hpp>
#include <tlm/algebra/memory.hpp>
#include <tlm/algebra/pullback.hpp>

namespace tlm::checking {

/// The rows of a memory as a weight M.
template <std::size_t rows, std::size_t cols, class Real>
struct RowsOfMemory {
  Matrix<rows, cols, Real> M;

  static constexpr void weights(auto&& visit, auto&... memory) { visit(Name{"M"}, memory.M...); }

  /// The memory of this many sequences, each with these rows.
  Memory<Matrix<n, cols, Real>> of_sequences(std::size_t count) const {
    Memory<Matrix<n, cols, Real>> memory{
        Matrix<n, cols, Real>{Sequences::of_lengths(std::vector<std::size_t>(count, rows))}};
    for (std::size_t i = 0; i < memory.rows.rows(); ++i) memory.rows.row(i) = M.row(i % rows);
    return memory;
  }
};

/// F in the environment of a memory of its own, the same for every sequence. The rows M of the memory are weights like
/// others. So a decoder is an operation on y alone, and every check of such operations runs over it.
template <class F, std::size_t memory_rows = 3>
struct WithMemory {
  using domain = DomainOf<F>;
  using codomain = CodomainOf<F>;
  using Rows = RowsOfMemory<memory_rows, domain::cols, typename domain::Real>;
  using form = forms::Tied<Rows, F>;
  using provides = Memory<domain>;

  Rows memory;
  F f;

  codomain operator()(const domain& X) const { return apply(f, X, memory.of_sequences(X.sequences().count())); }

  /// Every sequence's memory is M, hence its cotangent is the sum over the sequences.
  auto value_and_pullback(const domain& X) const& {
    const std::size_t count = X.sequences().count();
    auto [Y, F_pullback] = differentiate(f, X, memory.of_sequences(count));
    return with_pullback(std::move(Y),
                         [count, F_pullback = std::move(F_pullback)](codomain Y_bar, WithMemory& gradient) {
                           auto M_bar = Rows{}.of_sequences(count);
                           auto X_bar = F_pullback(std::move(Y_bar), gradient.f, M_bar);
                           for (std::size_t i = 0; i < M_bar.rows.rows(); ++i)
                             gradient.memory.M.row(i % memory_rows) += M_bar.rows.row(i);
                           return X_bar;
                         });
  }

  /// What F remembers.
  struct State {
    tlm::State<F> f;
  };
  codomain extend(State& state, const domain& X) const {
    return advance(f, state.f, X, memory.of_sequences(X.sequences().count()));
  }

  static constexpr void parts(auto&& visit, auto&... layer) {
    visit(0, layer.memory...);
    visit(0, layer.f...);
  }
};

}  // namespace tlm::checking
