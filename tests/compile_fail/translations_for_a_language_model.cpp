// SPDX-License-Identifier: MIT
/// Says: a model of sequences learns from a Batch, an encoder-decoder from Translations: this is for the other
/// Names: TransformerLM
#include <tlm/models/transformer_lm.hpp>
#include <tlm/training/loss.hpp>

using Model = tlm::TransformerLM<tlm::Config{.vocab_size = 11, .d_model = 8, .d_ff = 8, .n_layers = 1, .n_heads = 2}>;
#ifdef WRONG
using Batch = tlm::Translations;
#else
using Batch = tlm::Batch<>;
#endif

auto use(const Model& model, const Batch& batch, Model& gradient) {
  return tlm::loss(model, batch) + tlm::loss_and_gradient(model, batch, gradient);
}
