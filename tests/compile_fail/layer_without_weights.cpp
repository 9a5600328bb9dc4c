// SPDX-License-Identifier: MIT
/// Says: a layer visits its weights: static constexpr void weights(auto&& visit, auto&... layer)
/// Names: MyLayer
#include <tlm/algebra/composition.hpp>
#include <tlm/layers/affine.hpp>

/// X + a, where a is a row.
struct MyLayer {
  using declared = tlm::is::Rowwise;
  using domain = tlm::Matrix<tlm::n, 3>;
  using codomain = domain;

  tlm::Row<3> a;

  codomain operator()(domain X) const { return std::move(X += a); }

  auto value_and_pullback(domain X) const {
    return tlm::with_pullback((*this)(std::move(X)), [](const codomain& Y_bar, MyLayer& gradient) {
      tlm::accumulate_rows(gradient.a, Y_bar);
      return Y_bar;
    });
  }

#ifndef WRONG
  static constexpr void weights(auto&& visit, auto&... layer) { visit(tlm::Name{"a"}, layer.a...); }
#endif
};

using Model = tlm::Composition<tlm::Plus<"B", 3>, MyLayer>;

auto use(const Model& model, Model& gradient, const tlm::Matrix<tlm::n, 3>& X) {
  auto [Y, pullback] = model.value_and_pullback(X);
  tlm::State<Model> state;
  tlm::for_each_weight([](const tlm::Name&, auto&) {}, gradient);
  return model(X) + pullback(Y, gradient) + tlm::extend(model, state, X);
}
