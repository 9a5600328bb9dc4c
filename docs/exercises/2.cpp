// SPDX-License-Identifier: MIT
// Exercise 2: what is it?

#include <cstddef>
#include <iostream>
#include <utility>

#include <tlm/checking/check.hpp>
#include <tlm/matrix/rearranged.hpp>
#include <tlm/tlm.hpp>

/// Y_i = X_i + X_1, in each sequence.
template <class Real>
struct PlusFirst {
  // ---- change this ----
  using declared = tlm::is::Rowwise;
  // ---- to here ----
  using domain = tlm::Matrix<tlm::n, 3, Real>;
  using codomain = domain;

  codomain operator()(const domain& X) const {
    State no_rows{};
    return extend(no_rows, X);
  }

  /// X̄_i = Ȳ_i, and X̄_1 = Ȳ_1 + Σ_i Ȳ_i.
  auto value_and_pullback(const domain& X) const {
    return tlm::with_pullback((*this)(X), [](codomain Y_bar, PlusFirst&) {
      for (std::size_t s = 0; s < Y_bar.sequences().count(); ++s)
        for (std::size_t j = 0; j < 3; ++j) {
          Real sum(0);
          for (std::size_t i = Y_bar.sequences().begin(s); i < Y_bar.sequences().end(s); ++i) sum += Y_bar(i, j);
          if (Y_bar.sequences().length(s) > 0) Y_bar(Y_bar.sequences().begin(s), j) += sum;
        }
      return Y_bar;
    });
  }

  /// The first row of each sequence, once there is one.
  struct State {
    domain first;
  };

  codomain extend(State& state, domain X) const {
    const auto& sequences = X.sequences();
    if (state.first.sequences().count() == 0)
      state.first = domain{tlm::Sequences::of_lengths(std::vector<std::size_t>(sequences.count(), 0))};
    std::vector<domain> first;
    for (std::size_t s = 0; s < sequences.count(); ++s) {
      domain row = tlm::sequence(state.first, s);
      if (row.rows() == 0 && sequences.length(s) > 0) row = tlm::sequence(X, s) | 1;
      first.push_back(row);
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i)
        for (std::size_t j = 0; j < 3; ++j) X(i, j) += row(0, j);
    }
    state.first = tlm::concat_sequences(first);
    return X;
  }

  static constexpr void weights(auto&&, auto&) {}
};

int main() {
  const tlm::Report report = tlm::check<PlusFirst>("X_i + X_1");
  std::cout << report;
  if (!tlm::autoregressive<PlusFirst<double>>) std::cout << "It is more than it declares: read the notes.\n";
  return report.holds() && tlm::autoregressive<PlusFirst<double>> ? 0 : 1;
}
