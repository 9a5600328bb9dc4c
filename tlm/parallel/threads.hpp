// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tlm/training/loss.hpp>

/// Of OpenBLAS, whose header and that of xtensor-blas do not go together.
extern "C" void openblas_set_num_threads(int count);

/// A batch learned from by several threads at once: each takes a part of its sequences.
namespace tlm {

/// So many tokens of a batch make up for what a thread costs that computes them: it is woken twice, and its gradient is set to
/// zero and added to that of the others. That is work for each weight, as is a token: so the number is about the same for small
/// models and great ones. (Measured on two cores, with T_LM of two blocks and Adam: two threads take as long as one with about
/// 10 to 14 tokens for each where d_model is 128 or 256, and with about 28 where it is 64, and less with more.)
inline constexpr std::size_t worth_a_thread = 32;

/// Threads that compute losses and gradients of a model of type T. They live as long as this object, and sleep where there is
/// nothing to do. Each but the first, which is the thread that asks, has a gradient of its own.
///
/// Inside each of them OpenBLAS uses one thread, as these share the processors already: making such threads tells it so, for
/// the whole process. An OpenBLAS that was built with OpenMP listens to OMP_NUM_THREADS=1 instead, before the program starts.
template <class T>
class Threads {
 public:
  /// So many threads, or fewer where a batch has not `least_tokens` for each. Throws std::invalid_argument for 0 threads.
  explicit Threads(std::size_t count, std::size_t least_tokens = worth_a_thread) : least_tokens_{least_tokens} {
    if (count == 0) throw std::invalid_argument("0 threads compute nothing: at least 1 is needed");
    if (count > 1) openblas_set_num_threads(1);
    for (std::size_t k = 1; k < count; ++k) workers_.push_back(std::make_unique<Worker>());
  }
  /// How many there are, with the one that asks.
  std::size_t count() const { return workers_.size() + 1; }
  /// Among how many of them a batch of so many tokens is shared.
  std::size_t count_for(std::size_t tokens) const {
    return std::clamp<std::size_t>(tokens / std::max<std::size_t>(1, least_tokens_), 1, count());
  }

  /// The sum of the losses of all parts by this objective, each on a thread of its own; adds their gradients to `gradient`,
  /// in the order of the parts. So the bits depend on the parts, and not on which of them is done first. Throws what the first
  /// part throws that throws; the gradient then may have those of some parts.
  template <class BatchOf, class Objective>
  RealOf<T> operator()(const T& model, const std::vector<BatchOf>& parts, T& gradient, const Objective& objective) {
    if (parts.size() > count())
      throw std::invalid_argument(std::to_string(parts.size()) + " parts are too many for " + std::to_string(count()) +
                                  " threads");
    std::vector<RealOf<T>> losses(parts.size(), RealOf<T>(0));
    std::vector<std::exception_ptr> thrown(parts.size());
    at_once(parts.size(), [&](std::size_t k) {
      try {
        T& own = k == 0 ? gradient : workers_[k - 1]->gradient;
        if (k > 0) set_to_zero(own);
        losses[k] = loss_and_gradient(model, parts[k], own, objective);
      } catch (...) {
        thrown[k] = std::current_exception();
      }
    });
    // Each thread adds up its share of every weight: for one alone that is as much work as to move all of them.
    at_once(parts.size(), [&](std::size_t k) {
      for (std::size_t part = 1; part < parts.size(); ++part)
        if (!thrown[part])
          for_each_weight(
              [&]<class Weight>(const Name&, Weight& w, const Weight& more) {
                const std::size_t last = Weight::size * (k + 1) / parts.size();
                for (std::size_t e = Weight::size * k / parts.size(); e < last; ++e) w.data()[e] += more.data()[e];
              },
              gradient, std::as_const(workers_[part - 1]->gradient));
    });
    RealOf<T> sum(0);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (thrown[k]) std::rethrow_exception(thrown[k]);
      sum += losses[k];
    }
    return sum;
  }

 private:
  /// A thread that does what it is given, and a gradient for it.
  class Worker {
   public:
    Worker()
        : thread_{[this] {
            for (;;) {
              begin_.acquire();
              if (!task_) return;
              task_();
              end_.release();
            }
          }} {}
    Worker(Worker&&) = delete;
    ~Worker() {
      task_ = nullptr;
      begin_.release();
    }
    void start(std::function<void()> task) {
      task_ = std::move(task);
      begin_.release();
    }
    void finish() { end_.acquire(); }

    T gradient{};

   private:
    std::function<void()> task_;
    std::binary_semaphore begin_{0}, end_{0};
    std::jthread thread_;  // the last member: it begins when all others are there, and ends before they do
  };

  /// action(k), which throws nothing, on thread k for each k < count, the first of which is this one. Returns when all is done.
  template <class Action>
  void at_once(std::size_t count, const Action& action) {
    for (std::size_t k = 1; k < count; ++k) workers_[k - 1]->start([&action, k] { action(k); });
    if (count > 0) action(0);
    for (std::size_t k = 1; k < count; ++k) workers_[k - 1]->finish();
  }

  std::size_t least_tokens_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// How many of `sequences` each of so many gets who share them: as many as the others, as far as that goes.
inline std::size_t shared_among(std::size_t sequences, std::size_t count) {
  return std::max<std::size_t>(1, (sequences + count - 1) / count);
}

/// A batch whose sequences are shared among Workers, which are Threads, or the ThreadsOfRanks: as many parts as there are of
/// them, or fewer if it has not so many sequences, or tokens. Its loss and gradient are those of the whole, as of InParts.
template <class Workers, class BatchOf>
struct SharedBatch {
  Workers& workers;
  InParts<BatchOf> batch;

  /// Sequences are shared in equal numbers, as far as that goes.
  SharedBatch(Workers& those, const BatchOf& whole)
      : workers{those},
        batch{in_parts(whole, shared_among(sequence_count(whole), those.count_for(token_count(whole))))} {}
};

/// The loss of the whole batch; adds its gradient to `gradient`. Throws like the workers, and what sum_of_weights throws.
template <class T, class Workers, class BatchOf, class Objective = Mean>
RealOf<T> loss_and_gradient(const T& model, const SharedBatch<Workers, BatchOf>& batch, T& gradient,
                            const Objective& objective = {}) {
  return batch.workers(model, batch.batch.parts, gradient,
                       part_of(objective, sum_of_weights<RealOf<T>>(batch.batch, objective)));
}

}  // namespace tlm
