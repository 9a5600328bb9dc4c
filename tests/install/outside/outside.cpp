// SPDX-License-Identifier: MIT
#include <cstdio>

#include <tlm/tlm.hpp>

int main() {
  tlm::TransformerLM<tlm::Config{.vocab_size = 3, .d_model = 4, .d_ff = 8, .n_heads = 2, .max_len = 5}> T_LM;
  tlm::Generator generator{1};
  tlm::initialize_uniform(T_LM, generator);
  std::printf("%zu rows of %zu\n", T_LM(tlm::Tokens{0, 1, 2}).rows(), T_LM(tlm::Tokens{0}).cols);
}
