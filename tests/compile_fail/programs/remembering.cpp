// SPDX-License-Identifier: MIT
/// X + a, which counts its rows.
struct MyLayer {
  using declared = tlm::is::Autoregressive;
  using domain = tlm::Matrix<tlm::n, 3>;
  using codomain = domain;

  tlm::Row<3> a;

  codomain operator()(domain X) const { return std::move(X += a); }

  auto value_and_pullback(domain X) const {
    return tlm::with_pullback((*this)(std::move(X)), [](const codomain& Y_bar, MyLayer& gradient) {
      for (std::size_t i = 0; i < Y_bar.rows(); ++i) gradient.a.row(0) += Y_bar.row(i);
      return Y_bar;
    });
  }

  struct State {
    std::size_t rows = 0;
  };

  codomain extend(auto& state, domain X) const {
    state.rows += X.rows();
    return std::move(X += a);
  }

  static constexpr void weights(auto&& visit, auto& layer) { visit("a", layer.a); }
};

using Model = tlm::Composition<tlm::Plus<"B", 3>, MyLayer>;
auto used = &use<Model, tlm::Matrix<tlm::n, 3>>;
