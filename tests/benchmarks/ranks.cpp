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
#include <vector>

#include <tlm/all.hpp>
#include <tlm/parallel/mpi.hpp>

#include "measure.hpp"
#include "models.hpp"

using namespace tlm;

namespace {

/// Measures a model that learns from this many sequences of one length.
template <class Model>
void run(Ranks& ranks, const std::string& name, std::size_t count, std::size_t length) {
  Generator generator{1};
  const auto model = models::random_model<Model>(generator), gradient = std::make_unique<Model>();
  const auto batch = models::random_batch(*model, count, length);
  ThreadsOfRanks<Model> workers{ranks, 1};
  const SharedBatch shared{workers, batch};
  const SGD sgd{1e-6};
  std::vector<std::span<float>> numbers;
  for (const auto& weight : parameters(*gradient)) numbers.emplace_back(weight.numbers, weight.size());
  // All ranks begin each action at the same time, as nearly as possible.
  const auto meet = [&] { ranks.any(false); };
  const auto [before_step, step, before_sum, sum, before_own, own] = measure::medians(
      9, meet,
      [&] {
        zero_grad(*gradient);
        loss_and_gradient(*model, shared, *gradient);
        sgd(*model, *gradient);
      },
      meet, [&] { ranks.sum(numbers); }, meet,
      [&] {
        zero_grad(*gradient);
        sgd(*model, *gradient);
      });
  if (ranks.is_first())
    std::printf("%s\t%zu\t%zu\t%g\t%g\t%g\n", name.c_str(), parameter_count<Model>, batch.sequence_count(), step, sum,
                own);
}

}  // namespace

int main() {
  Ranks ranks;
  run<TransformerLM<models::example_0>>(ranks, "Example 0, 4×6 tokens", 4, 6);
  run<TransformerLM<models::narrow>>(ranks, "128/512/6/4, 12×64 tokens", 12, 64);
  run<TransformerLM<models::wide>>(ranks, "512/2048/6/8, 4×128 tokens", 4, 128);
  run<TransformerLM<models::wide>>(ranks, "512/2048/6/8, 12×128 tokens", 12, 128);
  run<wolfram::Transformer<models::translator>>(ranks, "translator, 48 pairs of 20 tokens", 48, 20);
}
