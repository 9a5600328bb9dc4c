// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <barrier>
#include <stdexcept>
#include <string>
#include <vector>

#include <tlm/all.hpp>
#include <tlm/parallel/threads.hpp>

#include "../../proofs/support.hpp"
#include "../support.hpp"

namespace tlm::tests::in_threads {

namespace {

constexpr wolfram::Config small{
    .src_vocab_size = 6, .tgt_vocab_size = 7, .d = 4, .heads = 2, .blocks = 1, .max_len = 9, .dropout_percent = 30};
template <class Real>
using Model = wolfram::Transformer<small, Real>;

/// Five translations of unequal lengths. One token does not count.
Translations batch() {
  return {Tokens{{1, 2, 3}, {4}, {5, 0}, {1, 1, 1, 2}, {3}},
          Tokens{{1, 3, 2}, {0, 2, 6, 3}, {5, 5}, {2, 0}, {4, 3, 2, 1, 0}}, 3};
}

}  // namespace

TEST_CASE("1 to 6 threads give the loss and the gradient of the whole batch, exactly over the prime field") {
  using checking::PrimeField;
  checking::redrawing(1, [](Generator& generator) {
    const auto model = checking::draw_layer<Model<PrimeField>>(generator);
    const Noisy<Translations> noisy{batch(), {model, 1, 1}};
    Model<PrimeField> gradient;
    zero_grad(gradient);
    const PrimeField loss = loss_and_gradient(model, noisy, gradient);
    loss_and_gradient(model, noisy, gradient);  // which is added to what is there
    for (std::size_t count = 1; count <= 6; ++count) {
      CAPTURE(count);
      Threads<Model<PrimeField>> threads{count, 1};
      Model<PrimeField> of_parts;
      zero_grad(of_parts);
      for (int time = 0; time < 2; ++time)
        CHECK(same(loss_and_gradient(model, SharedBatch{threads, noisy}, of_parts), loss));
      CHECK(same_bits(of_parts, gradient));
    }
    return true;
  });
}

TEST_CASE("in double the sum is in another order: within 1e-13, and the same bits every time") {
  const auto model = random_layer<Model<double>>(Generator{2});
  Model<double> gradient;
  const double loss = loss_and_gradient(model, batch(), gradient);
  Threads<Model<double>> threads{3, 1};
  Model<double> first;
  CHECK(loss_and_gradient(model, SharedBatch{threads, batch()}, first) == doctest::Approx(loss).epsilon(1e-14));
  CHECK(distance_of_weights(first, gradient) < 1e-13);
  for (int again = 0; again < 20; ++again) {
    Model<double> other;
    loss_and_gradient(model, SharedBatch{threads, batch()}, other);
    REQUIRE(same_bits(other, first));
  }
}

TEST_CASE("what a thread throws is thrown where it was asked, and the threads go on") {
  const auto model = random_layer<Model<double>>(Generator{4});
  Threads<Model<double>> threads{2, 1};
  Model<double> gradient;
  Translations wrong = batch();
  wrong.x(wrong.x.rows() - 1, 0) = 77;
  CHECK_THROWS_AS(loss_and_gradient(model, SharedBatch{threads, wrong}, gradient), std::out_of_range);
  CHECK(loss_and_gradient(model, SharedBatch{threads, batch()}, gradient) ==
        doctest::Approx(loss(model, batch())).epsilon(1e-14));
  CHECK(loss(model, SharedBatch{threads, batch()}) == doctest::Approx(loss(model, batch())).epsilon(1e-14));
  CHECK_THROWS_WITH_AS(Threads<Model<double>>{0}, "0 threads compute nothing: at least 1 is needed",
                       std::invalid_argument);
}

TEST_CASE("a batch is shared among as many threads as it has tokens for, and no thread of one goes unused") {
  const Threads<Model<double>> threads{4, 10};
  CHECK(threads.count_for(0) == 1);
  CHECK(threads.count_for(19) == 1);
  CHECK(threads.count_for(20) == 2);
  CHECK(threads.count_for(39) == 3);
  CHECK(threads.count_for(1'000) == 4);
  CHECK(shared_among(6, 3) == 2);
  CHECK(shared_among(7, 3) == 3);
  CHECK(shared_among(0, 3) == 1);
  Threads<Model<double>> all{4, 1}, none{4, 1'000};
  CHECK(SharedBatch{all, batch()}.batch.batches.size() == 3);  // of five sequences: 2, 2 and 1
  CHECK(SharedBatch{none, batch()}.batch.batches.size() == 1);
}

TEST_CASE("parallel_for acts at once, and throws what was thrown for the least k") {
  ThreadPool pool{3};
  CHECK(pool.count() == 3);
  std::vector<int> done(3);
  std::barrier all{3};
  pool.parallel_for(3, [&](std::size_t k) {
    all.arrive_and_wait();  // as long as there is one that is not there yet
    done[k] = int(k) + 1;
  });
  CHECK(done == std::vector<int>{1, 2, 3});
  pool.parallel_for(2, [&](std::size_t k) { done[k] = 7; });
  CHECK(done == std::vector<int>{7, 7, 3});
  pool.parallel_for(0, [&](std::size_t) { done[0] = 0; });
  CHECK(done[0] == 7);
  const auto throws = [](std::size_t k) {
    if (k > 0) throw std::runtime_error{"share " + std::to_string(k)};
  };
  CHECK_THROWS_WITH_AS(pool.parallel_for(3, throws), "share 1", std::runtime_error);
  CHECK_THROWS_WITH_AS(pool.parallel_for(4, throws), "4 shares are too many for 3 threads", std::invalid_argument);
}

}  // namespace tlm::tests::in_threads
