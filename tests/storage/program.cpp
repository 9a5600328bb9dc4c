// SPDX-License-Identifier: MIT
#include <cstdio>
#include <string>

#include <tlm/models/transformer_lm.hpp>
#include <tlm/storage/safetensors.hpp>

// What other_readers.py runs. `program write FILE` writes a model whose weights are 0, ½, 1, 1½, … in the order of
// visits. `program read FILE` prints for each weight whether it is what the script wrote: −1, −2, … in alphabetical
// order of the paths.
using Model = tlm::TransformerLM<tlm::Config{
    .vocab_size = 5, .d_model = 4, .d_ff = 6, .n_layers = 2, .n_heads = 2, .max_len = 7}>;

int main(int, char** arguments) try {
  const std::string what = arguments[1], path = arguments[2];
  Model model;
  float next = 0;
  if (what == "write") {
    tlm::for_each_weight(
        [&]<class Weight>(const tlm::Name& name, Weight& weight) {
          std::printf("%s %zu %zu %.1f\n", name.path().c_str(), Weight::size / Weight::cols, Weight::cols,
                      double(next));
          for (std::size_t e = 0; e < Weight::size; ++e, next += 0.5f) weight.data()[e] = next;
        },
        model);
    tlm::storage::save_weights(path, model, {{"n_heads", "2"}});
  } else {
    tlm::storage::load_weights(path, model, {{"n_heads", "2"}});
    tlm::for_each_weight(
        [&]<class Weight>(const tlm::Name& name, const Weight& weight) {
          bool consecutive = true;
          for (std::size_t e = 0; e < Weight::size; ++e)
            consecutive = consecutive && weight.data()[e] == weight.data()[0] - float(e);
          std::printf("%s %.1f %s\n", name.path().c_str(), double(weight.data()[0]), consecutive ? "yes" : "no");
        },
        model);
  }
} catch (const std::exception& exception) {
  std::fprintf(stderr, "%s\n", exception.what());
  return 1;
}
