// SPDX-License-Identifier: MIT
// The loss of a batch is the mean of −log(probability) over its tokens, each predicted from those before it. Its gradient is
// an object of the model's type. A step against it makes the loss smaller.

#include <cmath>
#include <cstddef>
#include <iostream>

#include <tlm/tlm.hpp>

int main() {
  using Model = tlm::TransformerLM<
      tlm::Config{.vocab_size = 5, .d_model = 8, .d_ff = 16, .n_layers = 1, .n_heads = 2, .max_len = 6}, double>;
  tlm::Generator generator{1};
  Model model;
  tlm::initialize_uniform(model, generator);

  // Token 0 starts each sequence. The last token of the second weighs half as much as the others.
  const tlm::Batch<double> batch{0, {{3, 1, 4}, {2, 2}}, {{1, 1, 1}, {1, 0.5}}};
  const auto [loss, gradient] = tlm::value_and_gradient(model, batch);
  std::cout << "the loss is " << loss << "; that of a guess among 5 tokens is " << std::log(5.0) << '\n';

  // The loss by hand: −Σ ω·log P(token | those before it) / Σ ω.
  const tlm::Tokens read{{0, 3, 1}, {0, 2}};
  const auto Y = model(read);
  double sum = 0;
  for (std::size_t k = 0; k < Y.rows(); ++k) {
    double Z = 0;
    for (std::size_t j = 0; j < Y.cols; ++j) Z += std::exp(Y(k, j));
    sum -= batch.omega(k, 0) * (Y(k, std::size_t(batch.x(k, 0))) - std::log(Z));
  }
  std::cout << "by hand it is " << sum / 4.5 << '\n';

  const tlm::SGD descend{0.1};
  descend(model, gradient);
  std::cout << "after one step of rate 0.1 it is " << tlm::loss(model, batch) << '\n' << std::flush;
  return std::cout ? 0 : 1;  // 1 if there was no room for what it prints
}
