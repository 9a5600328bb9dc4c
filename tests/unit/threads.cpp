// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <barrier>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../workers.hpp"

namespace tlm::tests::in_threads {

using Model = Translator<double>;

TEST_CASE("1 to 6 threads give the loss and the gradient of the whole batch, exactly over the prime field") {
  must_be_exact(5, 6, [](std::size_t count) { return Threads<Translator<checking::PrimeField>>{count, 1}; });
}

TEST_CASE("in double the sum is in another order: within 1e-13, and the same bits every time") {
  const auto model = random_layer<Model>(Generator{2});
  Model gradient;
  const double loss = loss_and_gradient(model, translations(), gradient);
  Threads<Model> threads{3, 1};
  Model first;
  CHECK(loss_and_gradient(model, SharedBatch{threads, translations()}, first) == doctest::Approx(loss).epsilon(1e-14));
  CHECK(distance_of_weights(first, gradient) < 1e-13);
  for (int again = 0; again < 20; ++again) {
    Model other;
    loss_and_gradient(model, SharedBatch{threads, translations()}, other);
    REQUIRE(same_bits(other, first));
  }
}

TEST_CASE("what a thread throws is thrown where it was asked, and Threads can be used again") {
  const auto model = random_layer<Model>(Generator{4});
  Threads<Model> threads{2, 1};
  Model gradient;
  Translations wrong = translations();
  wrong.x(wrong.x.rows() - 1, 0) = 77;
  CHECK_THROWS_AS(loss_and_gradient(model, SharedBatch{threads, wrong}, gradient), std::out_of_range);
  CHECK(loss_and_gradient(model, SharedBatch{threads, translations()}, gradient) ==
        doctest::Approx(loss(model, translations())).epsilon(1e-14));
  CHECK_THROWS_WITH_AS(Threads<Model>{0}, "0 threads compute nothing: at least 1 is needed", std::invalid_argument);
}

TEST_CASE("a batch is shared among as many threads as it has tokens for, and no thread of one goes unused") {
  const Threads<Model> threads{4, 10};
  CHECK(threads.count_for(0) == 1);
  CHECK(threads.count_for(19) == 1);
  CHECK(threads.count_for(20) == 2);
  CHECK(threads.count_for(39) == 3);
  CHECK(threads.count_for(1'000) == 4);
  Threads<Model> all{4, 1}, none{4, 1'000};
  CHECK(SharedBatch{all, translations()}.batch.batches.size() == 3);  // of five sequences: 2, 2 and 1
  CHECK(SharedBatch{all, translations(4)}.batch.batches.size() == 4);
  CHECK(SharedBatch{all, Translations{}}.batch.batches.empty());
  CHECK(SharedBatch{none, translations()}.batch.batches.size() == 1);
}

TEST_CASE("parallel_for acts at once, and throws what was thrown for the least k") {
  std::vector<int> done(3);
  std::barrier all{3};
  parallel_for(3, [&](std::size_t k) {
    all.arrive_and_wait();  // as long as there is one that is not there yet
    done[k] = int(k) + 1;
  });
  CHECK(done == std::vector<int>{1, 2, 3});
  parallel_for(2, [&](std::size_t k) { done[k] = 7; });
  CHECK(done == std::vector<int>{7, 7, 3});
  parallel_for(0, [&](std::size_t) { done[0] = 0; });
  CHECK(done[0] == 7);
  const auto throws = [](std::size_t k) {
    if (k > 0) throw std::runtime_error{"share " + std::to_string(k)};
  };
  CHECK_THROWS_WITH_AS(parallel_for(3, throws), "share 1", std::runtime_error);
  const auto first_throws = [&](std::size_t k) {
    if (k == 0) throw std::runtime_error{"share 0"};
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    done[k] = 9;
  };
  CHECK_THROWS_WITH_AS(parallel_for(2, first_throws), "share 0", std::runtime_error);
  CHECK(done[1] == 9);  // as it returns when all are done, then too
}

TEST_CASE("a process knows whether mpirun, mpiexec or srun has started it") {
  for (const char* word : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    setenv(word, "0", 1);
    CHECK(started_as_a_rank());
    unsetenv(word);
    CHECK(!started_as_a_rank());
  }
}

}  // namespace tlm::tests::in_threads
