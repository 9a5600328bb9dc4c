// SPDX-License-Identifier: MIT
/// Says: a pullback refers to its layer: give the layer a name, so that it lives as long as the pullback
/// Names: Times
#include <tlm/layers/affine.hpp>

using Model = tlm::Times<"W", 3, 3>;

auto use(const tlm::Matrix<tlm::n, 3>& X, Model& gradient) {
#ifdef WRONG
  auto [Y, pullback] = Model{}.value_and_pullback(X);
#else
  Model model;
  auto [Y, pullback] = model.value_and_pullback(X);
#endif
  return pullback(Y, gradient) + Y;
}
