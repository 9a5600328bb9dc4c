// SPDX-License-Identifier: MIT
// Which claims fail when the causal mask is broken. One mask shows one key too many, and declares that it does not.
// Another one is a number, and a model learns around it.

#include <iostream>

#include <examples/broken_mask.hpp>
#include <examples/finite_mask.hpp>
#include <examples/shared/command_line.hpp>
#include <tlm/checking/check.hpp>
#include <tlm/tlm.hpp>

namespace {

// [attention]
template <class Real>
using Broken = tlm::Attention<1, BrokenMask<1>, tlm::Times<"W_Q", 3, 3, Real>, tlm::Times<"W_K", 3, 3, Real>,
                              tlm::Times<"W_V", 3, 3, Real>>;
static_assert(tlm::autoregressive<Broken<double>>);  // says the compiler, by the rules, from what the mask declares
// [/attention]

void print() {
  std::cout << "softmax(mask(Q(X)×K(X)ᵀ/c))×V(X), where row i sees the keys j ≤ i + 1, and the mask says j ≤ i:\n\n"
            << tlm::check<Broken>("attention") << '\n';
  using namespace finite_mask;
  std::cout << "To guess the next of 4 tokens, drawn at random; without the future the least expected loss is log 4 = "
               "1.386; the best of four runs:\n";
  const auto report = [](const char* mask, const Learned& learned) {
    std::cout << mask << ": mean loss of the last 100 steps " << learned.loss
              << ", later tokens change a score of row 1 by up to " << learned.leak << '\n';
  };
  report("what is hidden is not there", best_guess<Structural>(3));
  report("−10 is added to its score  ", best_guess<Finite<10>>(3));
}

}  // namespace

int main(int argc, char** argv) {
  return program::CommandLine{"break_the_mask", "What becomes of the claims when the causal mask is broken."}.run(
      argc, argv, print);
}
