// SPDX-License-Identifier: MIT
// A model learns to reverse two of ten tokens: the article's Example 0 in forty lines, with a smaller model.
// `reverse` has the article's, and options.

#include <cstddef>
#include <iostream>

#include <tlm/tlm.hpp>

int main() {
  using Model = tlm::TransformerLM<tlm::Config{
      .vocab_size = 11, .d_model = 32, .d_ff = 64, .n_layers = 2, .n_heads = 2, .max_len = 7}>;
  tlm::Generator generator{1};
  Model model;
  tlm::initialize_glorot(model, generator);

  const tlm::Reversal task{10, 2, 2};  // token 0 separates a question from its answer: 3 7 0 7 3 0
  tlm::Adam<Model> adam{0.003};
  tlm::train(
      model, adam, [&] { return task.batch(16, generator); }, 1000,
      [](const tlm::Progress& progress) {
        if (progress.step % 200 == 0) std::cout << "step " << progress.step << ": loss " << progress.loss << std::endl;
        return tlm::Continue::yes;
      });

  std::size_t right = 0, all = 0;
  for (const auto& tokens : task.all()) {
    const auto answer =
        tlm::decode(model, tlm::Reversal::question(tokens), {task.separator, task.separator, task.max_len()});
    right += answer == tlm::Reversal::solved(tokens);
    ++all;
  }
  std::cout << right << " of " << all << " reversed\n" << std::flush;
  return std::cout ? 0 : 1;  // 1 if there was no room for what it prints
}
