// SPDX-License-Identifier: MIT
// Exercise 6: a pullback.

#include <iostream>
#include <utility>

#include <tlm/checking/check.hpp>
#include <tlm/tlm.hpp>

/// Y = X×Wᵀ
template <class Real>
struct TimesTransposed {
  using declared = tlm::is::Rowwise;
  using domain = tlm::Matrix<tlm::n, 3, Real>;
  using codomain = tlm::Matrix<tlm::n, 4, Real>;

  tlm::Matrix<4, 3, Real> W;

  codomain operator()(const domain& X) const { return X * transposed(W); }

  auto value_and_pullback(domain X) const& {
    codomain Y = X * transposed(W);
    return tlm::with_pullback(std::move(Y), [this, X = std::move(X)](const codomain& Y_bar, TimesTransposed& gradient) {
      // ---- change this ----
      // Add W̄ to gradient.W, for which there is accumulate(G, transposed(A), B), which is G += Aᵀ×B; and return X̄.
      (void)gradient;
      return domain{X.sequences()};
      // ---- to here ----
    });
  }
  auto value_and_pullback(domain) const&& { return tlm::refuse_temporary<TimesTransposed>(); }

  static constexpr void weights(auto&& visit, auto& layer) { visit("W", layer.W); }
};

int main() {
  const tlm::Report report = tlm::check<TimesTransposed>("X×Wᵀ");
  std::cout << report;
  return report.holds() ? 0 : 1;
}
