// SPDX-License-Identifier: MIT
/// Says: this layer reads an entry of the environment that nobody provides in its shape
/// Names: FromMemory
#include <tlm/layers/multi_head.hpp>

#ifdef WRONG
using Model = tlm::MultiHead<8, 2, 4, 4, tlm::Unmasked, tlm::FromMemory>;
#else
using Model = tlm::MultiHead<8, 2, 4, 4, tlm::Unmasked, tlm::FromItself>;
#endif

auto use(const Model& model, Model& gradient, const tlm::Matrix<tlm::n, 8>& X) {
  auto [Y, pullback] = model.value_and_pullback(X);
  return model(X) + pullback(Y, gradient);
}
