// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <numeric>
#include <semaphore>
#include <stdexcept>
#include <thread>
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

/// Threads that live as long as this object, and sleep when there is nothing to do.
class ThreadPool {
 public:
  /// `count` threads, including the calling one. Throws std::invalid_argument for 0.
  explicit ThreadPool(std::size_t count) : ThreadPool{} {  // the destructor ends them even if one cannot be started
    if (count == 0) refuse<std::invalid_argument>({"0 threads compute nothing: at least 1 is needed"});
    for (std::size_t k = 1; k < count; ++k) {
      Other& other = others_.emplace_back();
      other.thread = std::jthread{[this, &other, k] {
        for (wait_for(other.begin); action_; wait_for(other.begin)) {
          act(k);
          end_.release();
        }
      }};
    }
  }
  ThreadPool(ThreadPool&&) = delete;
  ~ThreadPool() {
    action_ = nullptr;
    for (Other& other : others_) other.begin.release();
  }

  /// The number of threads, including the calling one.
  std::size_t count() const { return others_.size() + 1; }

  /// action(k) for each k < shares, each on a thread of its own, k = 0 on the calling thread. Returns when all are
  /// done, and then throws what was thrown for the least k. One call at a time, and none from within an action. Throws
  /// std::invalid_argument at once for more shares than count(), and for an empty action.
  void parallel_for(std::size_t shares, std::function<void(std::size_t)> action) {
    if (shares > count()) refuse<std::invalid_argument>({shares, " shares are too many for ", count(), " threads"});
    if (!action) refuse<std::invalid_argument>({"the shares have no action: it is an empty function"});
    if (shares == 0) return;
    action_ = std::move(action);
    thrown_.assign(shares, nullptr);
    for (std::size_t k = 1; k < shares; ++k) others_[k - 1].begin.release();
    act(0);
    for (std::size_t k = 1; k < shares; ++k) wait_for(end_);
    for (const std::exception_ptr& thrown : thrown_)
      if (thrown) std::rethrow_exception(thrown);
  }

 private:
  struct Other {
    std::counting_semaphore<> begin{0};
    std::jthread thread;
  };

  ThreadPool() = default;

  void act(std::size_t k) {
    try {
      action_(k);
    } catch (...) {
      thrown_[k] = std::current_exception();
    }
  }

  /// Waits actively for a moment, then sleeps. A thread that has slept may be given the processor of the one that woke
  /// it, and then one waits for the other.
  static void wait_for(std::counting_semaphore<>& event) {
    for (int time = 0; time < 1'000; ++time) {
      if (event.try_acquire()) return;
      std::this_thread::yield();
    }
    event.acquire();
  }

  std::function<void(std::size_t)> action_;  // empty: there will be no more
  std::vector<std::exception_ptr> thrown_;
  std::counting_semaphore<> end_{0};
  std::deque<Other> others_;  // the last member: its threads end before the others do
};

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

/// The least number of tokens for which another thread is worth its costs. It is woken twice, and its gradient is set
/// to zero and added to the others. That is work for each weight, and so is a token. So the number hardly depends on
/// the size of the model.
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
      : threads_{count}, least_tokens_{std::max<std::size_t>(1, least_tokens)} {}
  /// The number of threads, including the calling one, that share a batch with this number of tokens.
  std::size_t count_for(std::size_t tokens) const {
    return std::clamp<std::size_t>(tokens / least_tokens_, 1, threads_.count());
  }

  /// The sum of the losses of all parts, each computed on a thread of its own. Adds their gradients to `gradient`, in
  /// the order of the parts. So the bits depend on the parts, and not on which part is done first. If parts throw,
  /// throws what the first of them throws; then `gradient` may have the gradients of some parts. Throws
  /// std::invalid_argument for more parts than threads.
  template <class BatchOf, class Objective>
  RealOf<T> operator()(const T& model, const std::vector<BatchOf>& parts, T& gradient, const Objective& objective) {
    if (parts.size() == 1) return loss_and_gradient(model, parts[0], gradient, objective);
    const OneThreadPerProduct on_each;
    while (gradients_.size() + 1 < parts.size()) gradients_.emplace_back();
    std::vector<RealOf<T>> losses(parts.size());
    threads_.parallel_for(parts.size(), [&](std::size_t k) {
      T& own = k == 0 ? gradient : gradients_[k - 1];
      if (k > 0) zero_grad(own);
      losses[k] = loss_and_gradient(model, parts[k], own, objective);
    });
    // Each thread adds up its share of every weight. For a single thread that would be as much work as a step of the
    // optimizer.
    const auto of_first = parameters(gradient);
    threads_.parallel_for(parts.size(), [&](std::size_t k) {
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
  ThreadPool threads_;
  std::size_t least_tokens_;
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
