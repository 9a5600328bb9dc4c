// SPDX-License-Identifier: MIT
/// Says: this layer reads an entry of the environment that nobody provides in its shape
/// Names: MyLayer
#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/tied.hpp>
#include <tlm/layers/affine.hpp>

/// X + a, where a belongs to the environment.
struct MyLayer {
  using declared = tlm::is::Rowwise;
  using domain = tlm::Matrix<tlm::n, 3>;
  using codomain = domain;
  using reads = tlm::TiedWeight<"a", 1, 3>;

  codomain operator()(domain X, const reads& entry) const { return std::move(X += entry.W); }

  auto value_and_pullback(domain X, const reads& entry) const {
    return tlm::with_pullback(std::move(X += entry.W), [](const codomain& Y_bar, MyLayer&, reads& entry_gradient) {
      tlm::accumulate_rows(entry_gradient.W, Y_bar);
      return Y_bar;
    });
  }

  static constexpr void weights(auto&&, auto&...) {}
};

#ifdef WRONG
using Model = tlm::Composition<tlm::Plus<"B", 3>, MyLayer>;
#else
using Model = tlm::Tied<tlm::TiedWeight<"a", 1, 3>, tlm::Composition<tlm::Plus<"B", 3>, MyLayer> >;
#endif

auto use(const Model& model, Model& gradient, const tlm::Matrix<tlm::n, 3>& X) {
  auto [Y, pullback] = model.value_and_pullback(X);
  tlm::State<Model> state;
  tlm::for_each_weight([](const tlm::Name&, auto&) {}, gradient);
  return model(X) + pullback(Y, gradient) + tlm::extend(model, state, X);
}
