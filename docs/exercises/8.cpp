// SPDX-License-Identifier: MIT
// Exercise 8: row by row.

#include <cstddef>
#include <iostream>
#include <vector>

#include <tlm/checking/check.hpp>
#include <tlm/tlm.hpp>

/// Y_i = X_1 + … + X_i, in each sequence.
template <class Real>
struct RunningSum {
  using declared = tlm::is::Autoregressive;
  using domain = tlm::Matrix<tlm::n, 3, Real>;
  using codomain = domain;

  codomain operator()(const domain& X) const {
    State no_rows{};
    return extend(no_rows, X);
  }

  /// X̄_i = Ȳ_i + … + Ȳ_n.
  auto value_and_pullback(const domain& X) const {
    return tlm::with_pullback((*this)(X), [](codomain Y_bar, RunningSum&) {
      for (std::size_t s = 0; s < Y_bar.sequences().count(); ++s)
        for (std::size_t i = Y_bar.sequences().end(s); i-- > Y_bar.sequences().begin(s) + 1;)
          for (std::size_t j = 0; j < 3; ++j) Y_bar(i - 1, j) += Y_bar(i, j);
      return Y_bar;
    });
  }

  /// The sum of the rows so far, of each sequence.
  struct State {
    std::vector<std::vector<Real>> sums;
  };

  /// The further rows of Y, for the further rows X of each sequence.
  codomain extend(State& state, domain X) const {
    state.sums.resize(X.sequences().count(), std::vector<Real>(3, Real(0)));
    for (std::size_t s = 0; s < X.sequences().count(); ++s)
      for (std::size_t i = X.sequences().begin(s); i < X.sequences().end(s); ++i)
        for (std::size_t j = 0; j < 3; ++j) {
          Real& sum = state.sums[s][j];
          // ---- change this ----
          sum = Real(0);
          X(i, j) += sum;
          // ---- to here ----
        }
    return X;
  }

  static constexpr void weights(auto&&, auto&) {}
};

int main() {
  const tlm::Report report = tlm::check<RunningSum>("X_1 + … + X_i");
  std::cout << report;
  return report.holds() ? 0 : 1;
}
