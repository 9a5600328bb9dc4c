// SPDX-License-Identifier: MIT
#include "run.hpp"
#include "translator.hpp"

namespace {

template <class T>
constexpr OfSize of_size(std::size_t steps, double learning_rate) {
  return {steps, learning_rate, &T::train, &T::from_file};
}

// Merges for the words of numbers: most words are a token or two.
constexpr std::size_t words_of_numbers = 448;

}  // namespace

extern const OfSize numbers_2 = of_size<Translator<words_of_numbers, 2, 64>>(2300, 0.002);
extern const OfSize numbers_6 = of_size<Translator<words_of_numbers, 6, 64>>(3600, 0.001);
extern const OfSize sentences_6 = of_size<Translator<2048, 6, 128>>(30000, 0.001);
