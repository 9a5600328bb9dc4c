// SPDX-License-Identifier: MIT
/// Says: a Config says how many tokens there are, and no number in it is 0
/// Names: Config
#include <tlm/models/wolfram_transformer.hpp>

#ifdef WRONG
using Model = tlm::wolfram::Transformer<tlm::wolfram::Config{.src_vocab_size = 11}>;
#else
using Model = tlm::wolfram::Transformer<tlm::wolfram::Config{.src_vocab_size = 11, .tgt_vocab_size = 12}>;
#endif

auto use(const Model& model, Model& gradient, const tlm::SourceAndTarget<tlm::Tokens, tlm::Tokens>& X) {
  auto [Y, pullback] = model.value_and_pullback(X);
  pullback(Y, gradient);
  tlm::State<Model> state;
  return model(X) + tlm::extend(model, state, X);
}
