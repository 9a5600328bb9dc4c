// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tlm/base/refuse.hpp>
#include <tlm/training/micro_batches.hpp>

// Only OpenBLAS has these two. With another BLAS, both are null.
extern "C" {
[[gnu::weak]] int openblas_get_num_threads();
[[gnu::weak]] void openblas_set_num_threads(int count);
}

/// Several threads that learn from one batch. Each takes a part of its sequences.
namespace tlm {

/// action(k) for each k < shares, each on a thread of its own, k = 0 on the calling thread. Returns when all are done, and
/// then throws what was thrown for the least k. Throws std::system_error if a thread cannot be started; then some shares
/// may be done.
void parallel_for(std::size_t shares, const auto& action) {
  std::vector<std::future<void>> all;  // the first is done when it is asked for; destructors wait for the others
  for (std::size_t k = 0; k < shares; ++k)
    all.push_back(std::async(k == 0 ? std::launch::deferred : std::launch::async, std::cref(action), k));
  for (std::future<void>& one : all) one.get();
}

/// While it lives, OpenBLAS uses one thread for each product, because threads that multiply at the same time already
/// use the processors. The number is the program's: two of these may be nested, and not be on two threads. (For
/// another BLAS, or an OpenBLAS that was built with OpenMP, set OMP_NUM_THREADS=1 before the program starts.)
class [[nodiscard]] OneThreadPerProduct {
 public:
  OneThreadPerProduct() {
    if (openblas_get_num_threads) before_ = openblas_get_num_threads();
    set(1);
  }
  OneThreadPerProduct(OneThreadPerProduct&&) = delete;
  ~OneThreadPerProduct() { set(before_); }

 private:
  static void set(int count) {
    if (openblas_set_num_threads) openblas_set_num_threads(count);
  }
  int before_{};
};

/// The least number of tokens for which another thread is worth its costs. Its gradient is set to zero and added to the
/// others. That is work for each weight, and so is a token. So the number hardly depends on the size of the model. (It is
/// also started twice, which is seen in tiny models only.)
inline constexpr std::size_t worth_a_thread = 32;

/// Threads that compute losses and gradients of a model of type T. Each takes a part of a batch's sequences. The
/// calling thread computes a batch that is not divided, with the threads of the BLAS.
///
/// Each thread except the first has a gradient of its own, which is kept for the next batch.
template <class T>
class Threads {
 public:
  /// `count` threads. A batch without `least_tokens` for each uses fewer. Throws std::invalid_argument for 0 threads.
  explicit Threads(std::size_t count, std::size_t least_tokens = worth_a_thread)
      : count_{count}, least_tokens_{std::max<std::size_t>(1, least_tokens)} {
    if (count == 0) refuse<std::invalid_argument>({"0 threads compute nothing: at least 1 is needed"});
  }
  /// The number of threads, including the calling one, that share a batch with this number of tokens.
  std::size_t count_for(std::size_t tokens) const { return std::clamp<std::size_t>(tokens / least_tokens_, 1, count_); }

  /// The sum of the losses of all parts, each computed on a thread of its own. Adds their gradients to `gradient`, in
  /// the order of the parts. So the bits depend on the parts, and not on which part is done first. If parts throw,
  /// throws what the first of them throws; then `gradient` may have the gradients of some parts. So it may if a thread
  /// cannot be started, and this throws std::system_error.
  template <class BatchOf, class Objective>
  RealOf<T> operator()(const T& model, const std::vector<BatchOf>& parts, T& gradient, const Objective& objective) {
    if (parts.size() == 1) return loss_and_gradient(model, parts[0], gradient, objective);
    const OneThreadPerProduct on_each;
    while (gradients_.size() + 1 < parts.size()) gradients_.emplace_back();
    std::vector<RealOf<T>> losses(parts.size());
    parallel_for(parts.size(), [&](std::size_t k) {
      T& own = k == 0 ? gradient : gradients_[k - 1];
      if (k > 0) zero_grad(own);
      losses[k] = loss_and_gradient(model, parts[k], own, objective);
    });
    // Each thread adds up its share of every weight. For a single thread that would be as much work as a step of the
    // optimizer.
    const auto of_first = parameters(gradient);
    parallel_for(parts.size(), [&](std::size_t k) {
      for (std::size_t part = 1; part < parts.size(); ++part) {
        const auto of_part = parameters(std::as_const(gradients_[part - 1]));
        for (std::size_t w = 0; w < of_first.size(); ++w) {
          const std::size_t size = of_first[w].size(), last = size * (k + 1) / parts.size();
          for (std::size_t e = size * k / parts.size(); e < last; ++e) of_first[w].numbers[e] += of_part[w].numbers[e];
        }
      }
    });
    return std::accumulate(losses.begin(), losses.end(), RealOf<T>(0));
  }

 private:
  std::size_t count_, least_tokens_;
  std::deque<T> gradients_;  // a deque, as adding one moves no other
};

/// A batch whose sequences are shared among Workers: Threads or ThreadsOfRanks. Each worker gets one part at most. Its loss
/// and gradient are those of the whole, as for MicroBatches. An error counts sequences in a part.
template <class Workers, class BatchOf>
struct SharedBatch {
  Workers& workers;
  MicroBatches<BatchOf> batch;

  /// With n workers each part has ⌈sequences / n⌉ sequences, at least 1; the last part has the rest.
  SharedBatch(Workers& those, const BatchOf& whole) : workers{those} {
    const std::size_t count = those.count_for(whole.token_count());
    batch = micro_batches(whole, std::max<std::size_t>(1, (whole.sequence_count() + count - 1) / count));
  }
};

/// The loss of the whole batch. Adds its gradient to `gradient`. Throws like the workers, and what objective_of_parts
/// throws.
template <class T, class Workers, class BatchOf, class Objective = Mean>
RealOf<T> loss_and_gradient(const T& model, const SharedBatch<Workers, BatchOf>& shared, T& gradient,
                            const Objective& objective = {}) {
  return shared.workers(model, shared.batch.batches, gradient, objective_of_parts<T>(shared.batch, objective));
}

/// True if mpirun, mpiexec or srun has started this process, perhaps as one of several. Each sets variables of its own
/// (Open MPI, MPICH's Hydra, PMIx). A program without MPI would train as often as it was started.
inline bool started_as_a_rank() {
  return std::getenv("OMPI_COMM_WORLD_RANK") || std::getenv("PMI_RANK") || std::getenv("PMIX_RANK");
}

}  // namespace tlm
