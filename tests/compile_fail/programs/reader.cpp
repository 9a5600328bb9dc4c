// SPDX-License-Identifier: MIT
/// X + a, where a belongs to the environment.
struct MyLayer {
  using declared = tlm::is::Rowwise;
  using domain = tlm::Matrix<tlm::n, 3>;
  using codomain = domain;
  using Item = tlm::TiedWeight<"a", 1, 3>;
  using reads = Item;

  codomain operator()(domain X, const Item& item) const { return std::move(X += item.W); }

  auto value_and_pullback(domain X, const Item& item) const {
    return tlm::with_pullback(std::move(X += item.W), [](const codomain& Y_bar, MyLayer&, Item& item_gradient) {
      for (std::size_t i = 0; i < Y_bar.rows(); ++i) item_gradient.W.row(0) += Y_bar.row(i);
      return Y_bar;
    });
  }

  static constexpr void weights(auto&&, auto&) {}
};

using Model = tlm::Composition<tlm::Plus<"B", 3>, MyLayer>;
using Item = tlm::TiedWeight<"a", 1, 3>;

auto used(const Model& model, const Item& item, Model& gradient, Item& item_gradient, const tlm::Matrix<tlm::n, 3>& X) {
  auto [Y, pullback] = model.value_and_pullback(X, item);
  tlm::State<Model> state;
  return model(X, item) + pullback(Y, gradient, item_gradient) + tlm::advance(model, state, X, item);
}
