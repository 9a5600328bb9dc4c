// SPDX-License-Identifier: MIT
// Started by mpirun as 1, 2 and 3 ranks, each of which runs all of this.

#include <tlm/parallel/mpi.hpp>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../workers.hpp"

using namespace tlm;
using namespace tlm::tests;

namespace {

Ranks* ranks = nullptr;

constexpr Config tiny{.vocab_size = 5, .d_model = 4, .d_ff = 3, .n_layers = 1, .n_heads = 2, .max_len = 6};

}  // namespace

TEST_CASE("ranks, and threads on each, give the loss and the gradient of the whole, exactly over the prime field") {
  for (const std::size_t count : {1u, 2u, 5u})  // of one sequence there is nothing for the others to do
    must_be_exact(count, 2, [](std::size_t on_each) {
      return ThreadsOfRanks<Translator<checking::PrimeField>>{*ranks, on_each};
    });
}

TEST_CASE("a sum has the same bits on all ranks, whatever its length and wherever its numbers lie") {
  constexpr std::size_t piece = Ranks::at_once;
  const auto number = [](std::size_t e, std::size_t r) { return 0.1f * float(e % 1'009 + 1) + 0.3f * float(r); };
  const auto check = [&](const std::vector<std::size_t>& sizes) {
    std::vector<float> numbers(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0})), in_order = numbers;
    for (std::size_t e = 0; e < numbers.size(); ++e) {
      numbers[e] = number(e, ranks->rank());
      for (std::size_t r = 0; r < ranks->count(); ++r) in_order[e] += number(e, r);
    }
    std::vector<std::span<float>> places;
    auto next = numbers.data();
    for (const std::size_t size : sizes) {
      places.emplace_back(next, size);
      next += size;
    }
    ranks->sum(places);
    CHECK((numbers == in_order));
  };
  check({});
  for (std::size_t size = 0; size <= 7; ++size) check({size});
  check({0, 5, 0, 2});
  check({piece - 1, 2});
  check({3, piece});
  check({piece + 1, 3});
  check({1, 2 * piece + 5, 4096, 1});
}

TEST_CASE("ranks that have not the same batch, or not the same weights, are told") {
  const bool last = ranks->rank() == ranks->count() - 1, several = ranks->count() > 1;
  Generator generator{3};
  // The refusal of a step in which the last rank has another batch or another model than the others.
  const auto said = [&]<class T>(const T& model, const auto& batch) {
    ThreadsOfRanks<T> threads{*ranks, 1};
    T gradient;
    return refusal<std::runtime_error>([&] { loss_and_gradient(model, SharedBatch{threads, batch}, gradient); });
  };
  const std::string
      of_batch = several ? "the ranks do not have the same batch: all of them must draw it from the same data" : "",
      of_weights =
          several ? "the ranks do not have the same weights: all of them must start from the same file, or seed" : "";

  auto model = random_layer<Translator<double>>(generator);
  CHECK(said(model, translations()).empty());
  for (const auto& other : std::initializer_list<void (*)(Translations&)>{
           [](Translations& batch) { batch.x(7, 0) = 3; },  // a token that is read
           [](Translations& batch) { batch.y(1, 0) = 4; },  // one that is predicted
           [](Translations& batch) { batch.null = 2; },     // one that does not count
           [](Translations& batch) {                        // the same tokens in sequences of other lengths
             batch.x = Tokens{Sequences::of_lengths({2, 2, 2, 4, 1}), {1, 2, 3, 4, 5, 0, 1, 1, 1, 2, 3}};
           }}) {
    Translations drawn = translations();
    if (last) other(drawn);
    CHECK(said(model, drawn) == of_batch);
  }
  const auto alone = random_layer<TransformerLM<tiny, double>>(generator);
  const Batch<double> sequences{0, {{1, 2}, {3}}, {{1, 0.5}, {1}}}, of_another_start{2, {{1, 2}, {3}}, {{1, 0.5}, {1}}},
      of_another_weight{0, {{1, 2}, {3}}, {{1, 0.25}, {1}}};
  CHECK(said(alone, sequences).empty());
  CHECK(said(alone, last ? of_another_start : sequences) == of_batch);
  CHECK(said(alone, last ? of_another_weight : sequences) == of_batch);

  std::vector<double*> numbers;
  for (const auto& weight : parameters(model)) numbers.push_back(weight.numbers);
  for (double* const number : {numbers.front(), numbers.back()}) {
    const double before = *number;
    if (last) *number += 1;
    CHECK(said(model, translations()) == of_weights);
    *number = before;
  }
}

TEST_CASE("what one rank knows all know") {
  CHECK_FALSE(ranks->any(false));
  CHECK(ranks->any(ranks->rank() == ranks->count() - 1));
  CHECK(ranks->alike(7));
  for (std::size_t other = 0; other < ranks->count(); ++other)
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{6}, std::uint64_t{8}, ~std::uint64_t{0}})
      CHECK(ranks->alike(ranks->rank() == other ? number : 7) == (ranks->count() == 1));
  CHECK(ranks->of_first(1 + double(ranks->rank())) == 1);
  CHECK(ranks->of_first(ranks->is_first() ? 1 : 2) == 1);
  CHECK(ranks->all_end(std::chrono::minutes{1}));  // as all of them come here
  // The last one comes when the others have given up.
  if (ranks->rank() + 1 < ranks->count()) CHECK_FALSE(ranks->all_end(std::chrono::milliseconds{1}));
  ranks->any(false);
  if (ranks->rank() + 1 == ranks->count()) CHECK(ranks->all_end(std::chrono::minutes{1}));
}

TEST_CASE("a program has one object of its ranks") {
  if (started_as_a_rank()) CHECK_THROWS_AS(Ranks{}, std::logic_error);
}

int main(int argc, char** argv) {
  Ranks these;
  ranks = &these;
  const int failed = doctest::Context(argc, argv).run();
  return these.all_end(std::chrono::seconds{2}) ? failed : 1;
}
