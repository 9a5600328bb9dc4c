// SPDX-License-Identifier: MIT
#include "run.hpp"
#include "translator.hpp"

namespace {

template <class T>
constexpr OfSize of_size(std::size_t steps) {
  return {steps, &T::train, &T::from_file};
}

}  // namespace

// They share the blocks, which are the greater part of what there is to compile.
extern const OfSize numbers_2 = of_size<Translator<320, 2, 64>>(3500);
extern const OfSize numbers_6 = of_size<Translator<320, 6, 64>>(4000);
extern const OfSize sentences_6 = of_size<Translator<2048, 6, 128>>(6000);
