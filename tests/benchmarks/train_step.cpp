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
#include <cstddef>
#include <string>
#include <vector>

#include <tlm/all.hpp>

#include "models.hpp"
#include "peak.hpp"
#include "products.hpp"
#include "steps.hpp"
#include "table.hpp"
#include "timing.hpp"

using namespace tlm;
using table::rounded;
using timing::median, timing::milliseconds;

namespace {

/// A row for 1 thread and one for 2, for a model with a batch of this many sequences of one length.
template <class Model>
void measure(const std::string& name, std::size_t count, std::size_t length, std::size_t rounds,
             std::size_t steps_a_round) {
  for (const std::size_t threads : {1, 2}) {
    steps::Steps<Model> training{count, length, threads};
    ThreadPool sharing{threads};
    const std::size_t part_count = std::min(threads, count);
    std::vector<products::Products> parts;
    double operations = 0;
    for (std::size_t k = 0; k < part_count; ++k) {
      parts.push_back(products::of(Model::config, count / part_count, length));
      operations += parts.back().operations();
    }
    std::vector<double> steps, alone, most;
    for (std::size_t round = 0; round <= rounds; ++round) {
      const double step = milliseconds([&] { training.run(steps_a_round); });
      const double product = milliseconds([&] { products::run(sharing, parts, steps_a_round); });
      const double peak = peak::gigaflops(threads);
      if (round == 0) continue;  // to warm up
      steps.push_back(step / double(steps_a_round));
      alone.push_back(product / double(steps_a_round));
      most.push_back(peak);
    }
    const double ms = median(steps), speed = operations / ms / 1e6;
    const allocations::Count& allocated = training.allocated();
    table::row({name, std::to_string(threads), rounded(ms, 3), rounded(1e3 * double(count * length) / ms, 0),
                rounded(speed, 1), rounded(ms / median(alone), 2), rounded(median(most), 0),
                rounded(100 * speed / median(most), 1), rounded(double(allocated.bytes) / 1e6, 1),
                std::to_string(allocated.matrices), std::to_string(allocated.others)});
  }
}

}  // namespace

int main() {
  table::row({"model", "threads", "ms", "tokens/s", "GFLOP/s", "÷ products", "peak GFLOP/s", "% of peak", "MB",
              "allocations of matrices", "others"});
  measure<TransformerLM<models::example_0>>("Example 0, 4×6 tokens", 4, 6, 30, 40);
  measure<TransformerLM<models::narrow>>("128/512/6/4, 4×256 tokens", 4, 256, 9, 4);
  measure<TransformerLM<models::wide>>("512/2048/6/8, 4×128 tokens", 4, 128, 7, 3);
  measure<TransformerLM<models::wide>>("512/2048/6/8, 1×1024 tokens", 1, 1024, 5, 2);
  measure<wolfram::Transformer<models::translator>>("translator, 16 pairs of 20 tokens", 16, 20, 9, 5);
}
