// SPDX-License-Identifier: MIT
/// Says: a leaf that is autoregressive and not rowwise remembers the rows that it has seen: struct State { ... }, and codomain extend(State& state, const domain& X) const
/// Names: MyLayer
#include <tlm/algebra/composition.hpp>
#include <tlm/layers/affine.hpp>

/// X + a, which counts its rows.
struct MyLayer {
  using declared = tlm::is::Autoregressive;
  using domain = tlm::Matrix<tlm::n, 3>;
  using codomain = domain;

  tlm::Row<3> a;

  codomain operator()(domain X) const { return tlm::from_the_beginning(*this, std::move(X)); }

  auto value_and_pullback(domain X) const {
    return tlm::with_pullback((*this)(std::move(X)), [](const codomain& Y_bar, MyLayer& gradient) {
      tlm::accumulate_rows(gradient.a, Y_bar);
      return Y_bar;
    });
  }

#ifndef WRONG
  struct State {
    std::size_t rows = 0;
  };

  codomain extend(State& state, domain X) const {
    state.rows += X.rows();
    return std::move(X += a);
  }
#endif

  static constexpr void weights(auto&& visit, auto&... layer) { visit(tlm::Name{"a"}, layer.a...); }
};

using Model = tlm::Composition<tlm::Plus<"B", 3>, MyLayer>;

auto use(const Model& model, Model& gradient, const tlm::Matrix<tlm::n, 3>& X) {
  auto [Y, pullback] = model.value_and_pullback(X);
  tlm::State<Model> state;
  tlm::for_each_weight([](const tlm::Name&, auto&) {}, gradient);
  return model(X) + pullback(Y, gradient) + tlm::extend(model, state, X);
}
