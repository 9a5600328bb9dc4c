#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/weights.hpp>
#include <tlm/matrix/matrix.hpp>

namespace tlm {

/// X ↦ F(M), where M is the memory. Does not depend on X.
template <class F>
struct FromMemory {
  using declared = is::Constant;
  using domain = typename F::domain;
  using codomain = typename F::codomain;
  using Entry = Memory<domain>;

  F f;

  /// Throws std::invalid_argument for a memory with an empty sequence, or with other than one sequence for each of X.
  template <class... Entries>
  codomain operator()(const domain& X, const Entries&... entries) const {
    return f(checked(X, read<const Entry>(entries...)));
  }

  /// dX = 0, and dM = F′(M)ᵀ dY goes to the gradient of the memory.
  template <class... Entries>
  auto value_and_pullback(const domain& X, const Entries&... entries) const {
    auto [Y, F_pullback] = f.value_and_pullback(checked(X, read<const Entry>(entries...)));
    return with_pullback(std::move(Y), [sequences = X.sequences(), F_pullback = std::move(F_pullback)](
                                           codomain dY, FromMemory& gradient, Entries&... entry_gradients) {
      read<Entry>(entry_gradients...).rows += F_pullback(std::move(dY), gradient.f);
      return domain{sequences, typename domain::Real(0)};
    });
  }

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

  static constexpr void weights(auto&& visit, auto&... layer) { visit_part<F>(visit, 0, layer.f...); }

 private:
  static const domain& checked(const domain& X, const Entry& memory) {
    const Sequences& sequences = memory.rows.sequences();
    if (sequences.count() != X.sequences().count())
      throw std::invalid_argument("a memory of " + std::to_string(sequences.count()) + " sequences does not serve " +
                                  std::to_string(X.sequences().count()) + " targets");
    for (std::size_t s = 0; s < sequences.count(); ++s)
      if (sequences.length(s) == 0)
        throw std::invalid_argument("sequence " + std::to_string(s + 1) +
                                    " of the memory is empty: attention needs a row to look at");
    return memory.rows;
  }
};

}  // namespace tlm
