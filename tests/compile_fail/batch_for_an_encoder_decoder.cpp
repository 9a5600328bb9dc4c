// SPDX-License-Identifier: MIT
/// Says: a model of sequences learns from a Batch, an encoder-decoder from Translations: this is for the other
/// Names: Transformer
#include <tlm/models/numpy_transformer.hpp>
#include <tlm/training/loss.hpp>

using Model = tlm::numpy::Transformer<tlm::numpy::Config{.src_vocab_size = 11, .tgt_vocab_size = 11}>;
#ifdef WRONG
using Batch = tlm::Batch<>;
#else
using Batch = tlm::Translations;
#endif

auto use(const Model& model, const Batch& batch, Model& gradient) {
  return tlm::loss(model, batch) + tlm::loss_and_gradient(model, batch, gradient);
}
