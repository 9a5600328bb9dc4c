// SPDX-License-Identifier: MIT
/// Says: the layer has no weight with this path; the nearest is the WeightPath that stands with HasWeight
/// Names: TransformerLM
/// Explains: WeightPath<'D', 'B', '_', '1', '.', 'F', 'F', '.', 'A'>
#include <iostream>

#include <tlm/models/transformer_lm.hpp>

using Model = tlm::TransformerLM<tlm::Config{.vocab_size = 11, .d_model = 8, .d_ff = 8, .n_layers = 1, .n_heads = 2}>;

void use(Model& model) {
#ifdef WRONG
  auto& A = tlm::weight<"DB_1.FF.C">(model);
  std::cout << tlm::weight<"DB_1.FF.C">(model) << tlm::weight<"DB_1.FF.C">(model)(0, 0);
#else
  auto& A = tlm::weight<"DB_1.FF.A">(model);
#endif
  A = tlm::Matrix<8, 8>{};
  A(0, 0) = 1.0f;
}
