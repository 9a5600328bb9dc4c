// SPDX-License-Identifier: MIT
// A model continues a text token by token. The model is autoregressive, so what was computed for earlier tokens stays
// valid: each new token costs one row. Only the choice of the next token differs: the most probable one, a drawn one,
// or the best of several.

#include <iostream>
#include <string_view>
#include <vector>

#include <tlm/decoding/beam_search.hpp>
#include <tlm/tlm.hpp>

namespace {

void print(std::string_view how, const std::vector<tlm::Token>& tokens) {
  std::cout << how;
  for (const tlm::Token token : tokens) std::cout << ' ' << token;
  std::cout << '\n';
}

}  // namespace

int main() {
  using Model = tlm::TransformerLM<tlm::Config{
      .vocab_size = 5, .d_model = 16, .d_ff = 32, .n_layers = 1, .n_heads = 2, .max_len = 8}>;
  tlm::Generator generator{1};
  Model model;
  tlm::initialize_glorot(model, generator);
  const tlm::Reversal task{4, 3, 3};
  tlm::Adam<Model> adam{0.003};
  tlm::train(
      model, adam, [&] { return task.batch(16, generator); }, 30,  // too few to be sure of the answer
      [](const tlm::Progress&) { return tlm::Continue::yes; });

  const std::vector<tlm::Token> question{1, 2, 3, 0};
  // The longest text has 9 tokens with the start. The model reads 8 at most: nothing follows the last.
  const tlm::GenerationLimits limits{.start = 0, .end = 0, .max_len = task.max_len()};
  print("greedy:", tlm::decode(model, question, limits));
  for (int k = 0; k < 3; ++k) print("sampled:", tlm::decode(model, question, limits, tlm::Sampled{generator, 1.0}));
  print("beam of 4:", tlm::beam_search(model, question, limits, {.width = 4}).front().text);
  std::cout << std::flush;
  return std::cout ? 0 : 1;  // 1 if there was no room for what it prints
}
