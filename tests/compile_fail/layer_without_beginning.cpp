// SPDX-License-Identifier: MIT
/// Says: from_the_beginning(layer, X) is the extension of no rows: the layer has struct State { ... } and codomain extend(State& state, const domain& X) const
/// Names: MyLayer
#include <tlm/algebra/environment.hpp>
#include <tlm/layers/affine.hpp>

/// X + a, where a is a row.
struct MyLayer {
  using declared = tlm::is::Rowwise;
  using domain = tlm::Matrix<tlm::n, 3>;
  using codomain = domain;

  tlm::Row<3> a;

#ifdef WRONG
  codomain operator()(domain X) const { return tlm::from_the_beginning(*this, std::move(X)); }
#else
  codomain operator()(domain X) const { return std::move(X += a); }
#endif

  auto value_and_pullback(domain X) const {
    return tlm::with_pullback((*this)(std::move(X)), [](const codomain& Y_bar, MyLayer& gradient) {
      tlm::accumulate_rows(gradient.a, Y_bar);
      return Y_bar;
    });
  }

  static constexpr void weights(auto&& visit, auto&... layer) { visit(tlm::Name{"a"}, layer.a...); }
};

auto use(const MyLayer& layer, const tlm::Matrix<tlm::n, 3>& X) { return layer(X); }
