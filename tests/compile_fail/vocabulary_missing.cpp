// SPDX-License-Identifier: MIT
/// Says: a Config says how many tokens there are, and no number in it is 0
/// Names: Config
#include <tlm/models/transformer_lm.hpp>

#ifdef WRONG
using Model = tlm::TransformerLM<tlm::Config{.d_model = 8}>;
#else
using Model = tlm::TransformerLM<tlm::Config{.vocab_size = 11, .d_model = 8}>;
#endif

auto use(const Model& model, Model& gradient, const tlm::Tokens& X) {
  auto [Y, pullback] = model.value_and_pullback(X);
  pullback(Y, gradient);
  tlm::State<Model> state;
  return model(X) + tlm::extend(model, state, X);
}
