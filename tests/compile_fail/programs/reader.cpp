// SPDX-License-Identifier: MIT
/// X + a, where a belongs to the environment.
struct MyLayer {
  using declared = tlm::is::Rowwise;
  using domain = tlm::Matrix<tlm::n, 3>;
  using codomain = domain;
  using Entry = tlm::TiedWeight<"a", 1, 3>;
  using reads = Entry;

  codomain operator()(domain X, const Entry& entry) const { return std::move(X += entry.W); }

  auto value_and_pullback(domain X, const Entry& entry) const {
    return tlm::with_pullback(std::move(X += entry.W), [](const codomain& Y_bar, MyLayer&, Entry& entry_gradient) {
      tlm::accumulate_rows(entry_gradient.W, Y_bar);
      return Y_bar;
    });
  }

  static constexpr void weights(auto&&, auto&...) {}
};

using Model = tlm::Composition<tlm::Plus<"B", 3>, MyLayer>;
using Entry = tlm::TiedWeight<"a", 1, 3>;

auto used(const Model& model, const Entry& entry, Model& gradient, Entry& entry_gradient,
          const tlm::Matrix<tlm::n, 3>& X) {
  auto [Y, pullback] = model.value_and_pullback(X, entry);
  tlm::State<Model> state;
  return model(X, entry) + pullback(Y, gradient, entry_gradient) + tlm::extend(model, state, X, entry);
}
