// SPDX-License-Identifier: MIT
/// Says: the loss reads T(X|n) for T(X)|n, which needs a model that is autoregressive by type
/// Names: MyLayer
#include <tlm/algebra/composition.hpp>
#include <tlm/layers/embedding.hpp>
#include <tlm/training/loss.hpp>

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

float use(const Model& model, const tlm::Batch<>& batch, Model& gradient) {
  return tlm::loss(model, batch) + tlm::loss_and_gradient(model, batch, gradient);
}
