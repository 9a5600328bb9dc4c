// SPDX-License-Identifier: MIT
/// Says: a pullback refers to its layer: give the layer a name, so that it lives as long as the pullback
/// Names: Composition
#include <tlm/layers/affine.hpp>
#include <tlm/layers/feed_forward.hpp>

using Model = tlm::FeedForward<3, 4>;

auto use(const tlm::Matrix<tlm::n, 3>& X, Model& gradient) {
#ifdef WRONG
  auto [Y, pullback] = Model{}.value_and_pullback(X);
#else
  Model model;
  auto [Y, pullback] = model.value_and_pullback(X);
#endif
  return pullback(Y, gradient) + Y;
}
