// SPDX-License-Identifier: MIT
/// Says: tlm::check runs a layer over numbers that are no float or double
/// Explains: MyLayer
/// Within: 12
#include <cmath>

#include <tlm/checking/check.hpp>

/// x²/2, entry by entry.
template <class Real = float>
struct MyLayer {
  using declared = tlm::is::Rowwise;
  using domain = tlm::Matrix<tlm::n, 3, Real>;
  using codomain = domain;

  codomain operator()(domain X) const {
    for (std::size_t e = 0; e < X.rows() * 3; ++e) X.data()[e] = value(X.data()[e]);
    return X;
  }
  auto value_and_pullback(domain X) const {
    return tlm::with_pullback((*this)(X), [X](codomain Y_bar, MyLayer&) {
      for (std::size_t e = 0; e < X.rows() * 3; ++e) Y_bar.data()[e] *= derivative(X.data()[e]);
      return Y_bar;
    });
  }
  static constexpr void weights(auto&&, auto&...) {}

 private:
#ifdef WRONG
  static Real value(Real x) { return 0.5 * std::pow(std::fabs(x), 2); }
  static Real derivative(Real x) { return Real(std::cbrt(x)); }
#else
  static Real value(Real x) { return x * x / Real(2); }
  static Real derivative(Real x) { return x; }
#endif
};

const tlm::Report report = tlm::check<MyLayer>("MyLayer");
