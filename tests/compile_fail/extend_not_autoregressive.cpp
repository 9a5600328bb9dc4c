// SPDX-License-Identifier: MIT
/// Says: this is not autoregressive by type: rows that follow would change what was computed for earlier ones
/// Names: MyLayer
#include <tlm/algebra/composition.hpp>
#include <tlm/layers/embedding.hpp>

/// X + X, or the same from the end.
struct MyLayer {
#ifdef WRONG
  using declared = tlm::is::Unrestricted;
#else
  using declared = tlm::is::Rowwise;
#endif
  using domain = tlm::Matrix<tlm::n, 3>;
  using codomain = domain;

  codomain operator()(const domain& X) const { return X + X; }

  auto value_and_pullback(const domain& X) const {
    return tlm::with_pullback(X + X, [](const codomain& Y_bar, MyLayer&) { return Y_bar + Y_bar; });
  }

  static constexpr void weights(auto&&, auto&...) {}
};

using Model = tlm::Composition<MyLayer, tlm::Embedding<11, 3>>;

auto use(const Model& model) {
  tlm::State<Model> state;
  const auto Y = tlm::extend(model, state, tlm::Tokens{1, 2});
  return Y + tlm::extend(model, state, tlm::Tokens{3, 4});
}
