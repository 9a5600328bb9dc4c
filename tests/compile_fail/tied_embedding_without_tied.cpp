// SPDX-License-Identifier: MIT
/// Says: this layer reads an entry of the environment that nobody provides in its shape
/// Names: TiedEmbedding
#include <tlm/algebra/composition.hpp>
#include <tlm/layers/affine.hpp>
#include <tlm/layers/tied_embedding.hpp>

using Embedded = tlm::Composition<tlm::Plus<"B", 3>, tlm::TiedEmbedding<"W_e", 11, 3>>;
#ifdef WRONG
using Model = Embedded;
#else
using Model = tlm::Tied<tlm::TiedWeight<"W_e", 11, 3>, Embedded>;
#endif

auto use(const Model& model, Model& gradient, const tlm::Tokens& x) {
  auto [Y, pullback] = model.value_and_pullback(x);
  pullback(Y, gradient);
  tlm::State<Model> state;
  return model(x) + tlm::extend(model, state, x);
}
