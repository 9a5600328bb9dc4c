// SPDX-License-Identifier: MIT
/// Says: the loss weights of a Batch are the numbers that the model computes with: a model in double learns from a Batch<double>
/// Names: TransformerLM
#include <tlm/models/transformer_lm.hpp>
#include <tlm/training/loss.hpp>

using Model =
    tlm::TransformerLM<tlm::Config{.vocab_size = 11, .d_model = 8, .d_ff = 8, .n_layers = 1, .n_heads = 2}, double>;
#ifdef WRONG
using Batch = tlm::Batch<float>;
#else
using Batch = tlm::Batch<double>;
#endif

auto use(const Model& model, const Batch& batch, Model& gradient) {
  return tlm::loss(model, batch) + tlm::loss_and_gradient(model, batch, gradient);
}
