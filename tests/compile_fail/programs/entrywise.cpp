// SPDX-License-Identifier: MIT
#include <cmath>

#include <tlm/checking/check.hpp>

using tlm::relu, tlm::relu_derivative;

/// max(0, x), entry by entry.
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

  static constexpr void weights(auto&&, auto&) {}

 private:
  static Real value(Real x) { return relu(x); }
  static Real derivative(Real x) { return relu_derivative(x); }
};

const tlm::Report report = tlm::check<MyLayer>("MyLayer");
