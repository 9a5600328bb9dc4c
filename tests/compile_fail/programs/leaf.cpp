// SPDX-License-Identifier: MIT
/// X + a, where a is a row.
struct MyLayer {
  using declared = tlm::is::Rowwise;
  using X_type = tlm::Matrix<tlm::n, 3>;
  using domain = X_type;
  using codomain = X_type;

  tlm::Row<3> a;

  X_type operator()(X_type X) const { return std::move(X += a); }

  auto value_and_pullback(X_type X) const {
    return tlm::with_pullback(std::move(X += a), [](const X_type& Y_bar, MyLayer& gradient) {
      for (std::size_t i = 0; i < Y_bar.rows(); ++i) gradient.a.row(0) += Y_bar.row(i);
      return Y_bar;
    });
  }

  static constexpr void weights(auto&& visit, auto& layer) { visit("a", layer.a); }
};

using Model = tlm::Composition<tlm::Plus<"B", 3>, MyLayer>;
auto used = &use<Model, tlm::Matrix<tlm::n, 3>>;
