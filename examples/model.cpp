// SPDX-License-Identifier: MIT
// The whole model: T_LM = Φ ∘ N ∘ DB_n ∘ … ∘ DB_1 ∘ PE ∘ Em. It turns n tokens into n rows of scores, one score for
// each token that may follow. It is autoregressive: T(x|i) = T(x)|i.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>

#include <tlm/tlm.hpp>

int main() {
  using Model = tlm::TransformerLM<tlm::Config{
      .vocab_size = 5, .d_model = 8, .d_ff = 16, .n_layers = 2, .n_heads = 2, .max_len = 6}>;
  static_assert(tlm::autoregressive<Model>);
  tlm::Generator generator{1};
  Model model;
  tlm::initialize_glorot(model, generator);

  const tlm::Tokens x{3, 1, 4, 1};
  const auto Y = model(x);
  std::cout << tlm::parameter_count<Model> << " parameters; x = 3 1 4 1, and T_LM(x) =\n" << Y << '\n';

  const auto Y_2 = model(x | 2);  // of the first two tokens
  double largest = 0;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < Y.cols; ++j) largest = std::max(largest, double(std::abs(Y_2(i, j) - Y(i, j))));
  std::cout << "T_LM(x|2) differs from T_LM(x)|2 by at most " << largest << '\n';

  // Two sequences, one under the other. Each is computed as if it were alone.
  const auto both = model(tlm::Tokens{{3, 1, 4, 1}, {2, 0}});
  std::cout << "(3 1 4 1) and (2 0) together:\n" << both << std::endl;
  return std::cout ? 0 : 1;  // 1 if there was no room for what it prints
}
