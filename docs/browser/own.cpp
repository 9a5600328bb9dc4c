// SPDX-License-Identifier: MIT
// Small models of the reader's choice: what changes if a model is narrower, has fewer blocks or heads, or a larger vocabulary.

#include "learner.hpp"

namespace {

/// A lesson with sequences of min_length to max_length tokens 1, …, n_tokens, for a model with this width, and d_ff twice that.
constexpr page::Lesson small(int n_tokens, int min_length, int max_length, std::size_t d_model, std::size_t n_layers,
                             std::size_t n_heads) {
  return {{n_tokens, min_length, max_length, 6'000},
          {.vocab_size = std::size_t(n_tokens) + 1,
           .d_model = d_model,
           .d_ff = 2 * d_model,
           .n_layers = n_layers,
           .n_heads = n_heads,
           .max_len = 2 * std::size_t(max_length) + 3}};
}
constexpr page::Lesson lessons[] = {small(10, 2, 2, 16, 1, 1), small(10, 2, 2, 32, 1, 2), small(10, 2, 2, 32, 2, 2),
                                    small(20, 2, 2, 32, 2, 2)};

}  // namespace

/// A new model for a lesson, which learns by Adam or by SGD; answers with its type, and a number of steps.
extern "C" [[clang::export_name("begin")]] void begin(unsigned lesson, unsigned seed, unsigned by_sgd) {
  page::begin<lessons>(lesson, seed, by_sgd != 0);
}
