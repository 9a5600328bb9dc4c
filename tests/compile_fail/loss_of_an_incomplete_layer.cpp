// SPDX-License-Identifier: MIT
/// Says: a layer visits its weights: static constexpr void weights(auto&& visit, auto&... layer)
/// Names: MyLayer
#include <tlm/decoding/decode.hpp>
#include <tlm/layers/embedding.hpp>
#include <tlm/training/loss.hpp>

/// An embedding.
struct MyLayer {
  using declared = tlm::is::Rowwise;
  using domain = tlm::Tokens;
  using codomain = tlm::Matrix<tlm::n, 3>;

  tlm::Embedding<11, 3> Em;

  codomain operator()(const domain& x) const { return Em(x); }

  auto value_and_pullback(const domain& x) const {
    return tlm::with_pullback(Em(x), [x](const codomain& Y_bar, MyLayer& gradient) {
      tlm::accumulate_look_up(gradient.Em.W_e, x, Y_bar);
      return tlm::Nothing{};
    });
  }

#ifndef WRONG
  static constexpr void weights(auto&& visit, auto&... layer) { visit(tlm::Name{"W_e"}, layer.Em.W_e...); }
#endif
};

float use(const MyLayer& model, const tlm::Batch<>& batch, MyLayer& gradient) {
  tlm::decode(model, {1, 2}, {.start = 0, .end = 0, .max_len = 7});
  return tlm::loss(model, batch) + tlm::loss_and_gradient(model, batch, gradient);
}
