// SPDX-License-Identifier: MIT
// How long a training step takes, beside the matrix products that it cannot avoid, and beside the maximum speed of the
// machine.
//
// In every round some steps are timed, one after the other, as in training. Then the products of the same number of
// steps are timed alone: every product of the forward and the backward pass, with the same shapes, transpositions and
// BLAS. Those of attention are full squares. Last come multiplications and additions in registers alone. Medians over
// all rounds are printed, and their ratios. GFLOP/s counts the products; in attention only what the mask leaves
// visible. Memory is the maximum that operator new has given at the same time, for model, gradient and step. OpenBLAS's
// own buffers are not included.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <tlm/all.hpp>
#include <tlm/parallel/threads.hpp>

#include "measure.hpp"
#include "models.hpp"
#include "products.hpp"
#include "steps.hpp"

using namespace tlm;
using measure::row, measure::rounded;

namespace {

/// Multiplies and adds in registers alone, for about ten milliseconds. Returns the number of operations.
double multiply_and_add() {
  // As many numbers as a register holds on this machine. The compiler would keep wider ones partly in memory.
  using Lanes [[gnu::vector_size(__BIGGEST_ALIGNMENT__)]] = float;
  constexpr std::size_t times = 10'000'000, at_once = 12;
  volatile float unknown = 0.5f;
  const float factor = unknown;
  std::array<Lanes, at_once> sums{};
  for (std::size_t k = 0; k < at_once; ++k) sums[k] += float(k);  // or a compiler may see that all are the same
  for (std::size_t k = 0; k < times; ++k)
    for (Lanes& sum : sums) sum = sum * factor + factor;
  for (const Lanes& sum : sums) unknown = sum[0];
  return 2.0 * times * at_once * sizeof(Lanes) / sizeof(float);
}

/// A row for 1 thread and one for 2, for a model with a batch of this many sequences of one length.
template <class Model>
void compare(const std::string& name, std::size_t count, std::size_t length, std::size_t rounds,
             std::size_t steps_a_round) {
  for (const std::size_t threads : {1u, 2u}) {
    steps::Steps<Model> training{count, length, threads};
    const steps::Allocated allocated = training.allocated();
    std::vector<products::Products> parts;
    while (parts.size() < std::min(threads, count))
      parts.push_back(products::of(Model::config, count / std::min(threads, count), length));
    double at_most = 0;
    const auto [of_steps, of_products, of_registers] = measure::medians(
        rounds, [&] { training.run(steps_a_round); }, [&] { products::run(parts, steps_a_round); },
        [&] {
          parallel_for(threads, [&](std::size_t k) {
            const double operations = multiply_and_add();
            if (k == 0) at_most = double(threads) * operations;
          });
        });
    const double ms = of_steps / double(steps_a_round), peak = at_most / of_registers / 1e6;
    const double speed = double(parts.size()) * parts[0].operations() / ms / 1e6;
    row({name, std::to_string(threads), rounded(ms, 3), rounded(1e3 * double(count * length) / ms, 0),
         rounded(speed, 1), rounded(of_steps / of_products, 2), rounded(peak, 0), rounded(100 * speed / peak, 1),
         rounded(double(allocated.bytes) / 1e6, 1), std::to_string(allocated.matrices),
         std::to_string(allocated.others)});
  }
}

}  // namespace

int main() {
  row({"model", "threads", "ms", "tokens/s", "GFLOP/s", "÷ products", "peak GFLOP/s", "% of peak", "MB",
       "allocations of matrices", "others"});
  compare<TransformerLM<models::example_0>>("Example 0, 4×6 tokens", 4, 6, 31, 40);
  compare<TransformerLM<models::narrow>>("128/512/6/4, 4×256 tokens", 4, 256, 9, 4);
  compare<TransformerLM<models::wide>>("512/2048/6/8, 4×128 tokens", 4, 128, 7, 3);
  compare<TransformerLM<models::wide>>("512/2048/6/8, 1×1024 tokens", 1, 1024, 5, 2);
  compare<wolfram::Transformer<models::translator>>("translator, 16 pairs of 20 tokens", 16, 20, 9, 5);
}
