// SPDX-License-Identifier: MIT
/// Says: in a product A×B both matrices are of the same kind of numbers: both of float, or both of double
#include <tlm/algebra/composition.hpp>
#include <tlm/layers/affine.hpp>

/// X×A, of which the pullback does not matter here.
struct MyLayer {
  using declared = tlm::is::Rowwise;
  using domain = tlm::Matrix<tlm::n, 3, double>;
  using codomain = domain;

#ifdef WRONG
  tlm::Matrix<3, 3> A;
#else
  tlm::Matrix<3, 3, double> A;
#endif

  codomain operator()(const domain& X) const { return X * A; }

  auto value_and_pullback(const domain& X) const {
    return tlm::with_pullback(X * A, [](const codomain& Y_bar, MyLayer&) { return Y_bar; });
  }

  static constexpr void weights(auto&& visit, auto&... layer) { visit(tlm::Name{"A"}, layer.A...); }
};

using Model = tlm::Composition<tlm::Plus<"B", 3, double>, MyLayer>;

auto use(const Model& model, Model& gradient, const tlm::Matrix<tlm::n, 3, double>& X) {
  auto [Y, pullback] = model.value_and_pullback(X);
  tlm::State<Model> state;
  tlm::for_each_weight([](const tlm::Name&, auto&) {}, gradient);
  return model(X) + pullback(Y, gradient) + tlm::extend(model, state, X);
}
