// SPDX-License-Identifier: MIT
/// Says: a layer's weights are of the numbers that it computes with: as in tlm::Row<d, Real> a;
#include <tlm/checking/check.hpp>
#include <tlm/layers/affine.hpp>

/// X + a.
template <class Real>
struct Shifted {
  using declared = tlm::is::Rowwise;
  using domain = tlm::Matrix<tlm::n, 3, Real>;
  using codomain = domain;

#ifdef WRONG
  tlm::Row<3> a;
#else
  tlm::Row<3, Real> a;
#endif

  codomain operator()(domain X) const {
    for (std::size_t i = 0; i < X.rows(); ++i) X.row(i) += a.row(0);
    return X;
  }

  auto value_and_pullback(const domain& X) const {
    return tlm::with_pullback((*this)(X), [](const codomain& Y_bar, Shifted& gradient) {
      tlm::accumulate_rows(gradient.a, Y_bar);
      return Y_bar;
    });
  }

  static constexpr void weights(auto&& visit, auto&... layer) { visit("a", layer.a...); }
};

tlm::Report report() { return tlm::check<Shifted>("Shifted"); }
