// SPDX-License-Identifier: MIT
/// Says: only a leaf declares what it is: of a formula, and of a name for one, the rules say it
/// Names: MyLayer
#include <tlm/algebra/residual.hpp>
#include <tlm/layers/affine.hpp>

struct MyLayer : tlm::Res<tlm::Times<"W", 3, 3>> {
#ifdef WRONG
  using declared = tlm::is::Rowwise;
#endif
};

using Model = tlm::Composition<tlm::Plus<"B", 3>, MyLayer>;

auto use(const Model& model, Model& gradient, const tlm::Matrix<tlm::n, 3>& X) {
  auto [Y, pullback] = model.value_and_pullback(X);
  tlm::State<Model> state;
  tlm::for_each_weight([](const tlm::Name&, auto&) {}, gradient);
  return model(X) + pullback(Y, gradient) + tlm::extend(model, state, X);
}
