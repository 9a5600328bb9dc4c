// SPDX-License-Identifier: MIT
/// Says: a Config says how many tokens there are, and no number in it is 0
/// Names: Config
#include <tlm/models/formulated_transformer.hpp>

#ifdef WRONG
using Model = tlm::formulated::Transformer<tlm::formulated::Config{.d_model = 8}>;
#else
using Model = tlm::formulated::Transformer<tlm::formulated::Config{.s = 11, .d_model = 8}>;
#endif

auto use(const Model& model, Model& gradient, const tlm::SourceAndTarget<tlm::Tokens, tlm::Tokens>& X) {
  auto [Y, pullback] = model.value_and_pullback(X);
  pullback(Y, gradient);
  tlm::State<Model> state;
  return model(X) + tlm::extend(model, state, X);
}
