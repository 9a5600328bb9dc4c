// SPDX-License-Identifier: MIT
// How long a step of training takes on the ranks that mpirun has started, each with one thread, and how long two parts
// take that are not shared. These are the sum of the gradients over the ranks, and what every rank does by itself:
// setting its gradient to zero and moving the weights (SGD). Prints, for ranks.py, a line for each model: its name,
// weights, sequences, and the medians of the three in milliseconds.

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tlm/all.hpp>
#include <tlm/parallel/mpi.hpp>

#include "models.hpp"
#include "timing.hpp"

using namespace tlm;
using timing::median, timing::milliseconds;

namespace {

constexpr std::size_t rounds = 9;

/// Measures a model that learns from this many sequences of one length.
template <class Model>
void measure(Ranks& ranks, const std::string& name, std::size_t count, std::size_t length) {
  Generator generator{1};
  const auto model = models::random_model<Model>(generator), gradient = std::make_unique<Model>();
  const auto batch = models::random_batch(*model, count, length);
  ThreadsOfRanks<Model> workers{ranks, 1};
  const SharedBatch shared{workers, batch};
  const SGD sgd{1e-6};
  std::vector<std::span<float>> numbers;
  for (const auto& weight : parameters(*gradient)) numbers.emplace_back(weight.numbers, weight.size());
  std::vector<double> step, sum, own;
  for (std::size_t round = 0; round <= rounds; ++round) {
    // All ranks begin at the same time, as nearly as possible.
    const auto of_all = [&](const auto& action) {
      ranks.any(false);
      return milliseconds(action);
    };
    const auto move = [&] { sgd(*model, *gradient); };
    const double of_step = of_all([&] {
      zero_grad(*gradient);
      loss_and_gradient(*model, shared, *gradient);
      move();
    });
    const double of_sum = of_all([&] { ranks.sum(numbers); });
    const double of_own = of_all([&] {
      zero_grad(*gradient);
      move();
    });
    if (round == 0) continue;  // to warm up
    step.push_back(of_step);
    sum.push_back(of_sum);
    own.push_back(of_own);
  }
  if (ranks.is_first())
    std::printf("%s\t%zu\t%zu\t%g\t%g\t%g\n", name.c_str(), parameter_count<Model>, batch.sequence_count(),
                median(step), median(sum), median(own));
}

}  // namespace

int main() {
  Ranks ranks;
  measure<TransformerLM<models::example_0>>(ranks, "Example 0, 4×6 tokens", 4, 6);
  measure<TransformerLM<models::narrow>>(ranks, "128/512/6/4, 12×64 tokens", 12, 64);
  measure<TransformerLM<models::wide>>(ranks, "512/2048/6/8, 4×128 tokens", 4, 128);
  measure<TransformerLM<models::wide>>(ranks, "512/2048/6/8, 12×128 tokens", 12, 128);
  measure<wolfram::Transformer<models::translator>>(ranks, "translator, 48 pairs of 20 tokens", 48, 20);
}
