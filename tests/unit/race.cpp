// SPDX-License-Identifier: MIT
// Two threads that add to one gradient. The sanitizer of threads must see it, if it is on (control).

#include <thread>

#include <tlm/all.hpp>
#include <tlm/parallel/threads.hpp>

int main() {
  using Model = tlm::TransformerLM<tlm::Config{
      .vocab_size = 5, .d_model = 4, .d_ff = 4, .n_layers = 1, .n_heads = 1, .max_len = 5}>;
  Model model, gradient;
  tlm::Generator generator{1};
  tlm::initialize_glorot(model, generator);
  const auto learn = [&] { tlm::loss_and_gradient(model, tlm::unweighted(0, tlm::Tokens{1, 2, 3}), gradient); };
  std::jthread other{learn};
  learn();
}
