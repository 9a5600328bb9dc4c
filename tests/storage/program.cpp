// SPDX-License-Identifier: MIT
#include <cstdio>
#include <exception>

#include <tlm/models/transformer_lm.hpp>
#include <tlm/storage/safetensors.hpp>

// What other_readers.py runs: `program FROM TO` reads the weights of a model of the shapes of seeds/kept, and writes them.
using Model = tlm::TransformerLM<tlm::Config{
    .vocab_size = 5, .d_model = 8, .d_ff = 16, .n_layers = 2, .n_heads = 2, .max_len = 6}>;

int main(int, char** arguments) try {
  Model model;
  tlm::storage::load_weights(arguments[1], model, {{"n_heads", "2"}});
  tlm::storage::save_weights(arguments[2], model, {{"n_heads", "2"}});
} catch (const std::exception& exception) {
  std::fprintf(stderr, "%s\n", exception.what());
  return 1;
}
