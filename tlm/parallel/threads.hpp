// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <tlm/parallel/pool.hpp>
#include <tlm/training/loss.hpp>

// OpenBLAS alone has these two: where products are another's, both are null.
extern "C" {
[[gnu::weak]] int openblas_get_num_threads();
[[gnu::weak]] void openblas_set_num_threads(int count);
}

/// A batch learned from by several threads at once: each takes a part of its sequences.
namespace tlm {

/// While it lives, OpenBLAS uses one thread for each product, in whichever thread that is asked for: threads of a program that
/// multiply at once have the processors already. (Of another BLAS, or an OpenBLAS that was built with OpenMP, see to it before
/// the program starts: OMP_NUM_THREADS=1.)
class [[nodiscard]] OneThreadAProduct {
 public:
  OneThreadAProduct() : before_{openblas_get_num_threads ? openblas_get_num_threads() : 0} { set(1); }
  OneThreadAProduct(OneThreadAProduct&&) = delete;
  ~OneThreadAProduct() { set(before_); }

 private:
  static void set(int count) {
    if (openblas_set_num_threads) openblas_set_num_threads(count);
  }
  int before_;
};

/// So many tokens of a batch make up for what a thread costs that computes them: it is woken twice, and its gradient is set to
/// zero and added to that of the others. That is work for each weight, as is a token: so the number is about the same for small
/// models and great ones. (Measured on two cores, with T_LM of two blocks and Adam: two threads take as long as one with about
/// 10 to 14 tokens for each where d_model is 128 or 256, and with about 28 where it is 64, and less with more.)
inline constexpr std::size_t worth_a_thread = 32;

/// Threads that compute losses and gradients of a model of type T: each takes a part of a batch's sequences. A batch that is one
/// sequence is computed by the thread that asks, with the threads of the BLAS.
///
/// Each but the first, which is the thread that asks, has a gradient of its own, as soon as it is given sequences.
template <class T>
class Threads {
 public:
  /// So many threads, or fewer where a batch has not `least_tokens` for each. Throws std::invalid_argument for 0 threads.
  explicit Threads(std::size_t count, std::size_t least_tokens = worth_a_thread)
      : least_tokens_{least_tokens}, threads_{count} {}
  /// How many there are, with the one that asks.
  std::size_t count() const { return threads_.count(); }
  /// Among how many of them a batch of so many tokens is shared.
  std::size_t count_for(std::size_t tokens) const {
    return std::clamp<std::size_t>(tokens / std::max<std::size_t>(1, least_tokens_), 1, count());
  }

  /// The sum of the losses of all parts by this objective, each on a thread of its own; adds their gradients to `gradient`, in the order of the parts. So the bits depend on the parts, and not on which of
  /// them is done first. Throws what the first part throws that throws, and then the gradient may have that of some parts; and
  /// std::invalid_argument for more parts than threads.
  template <class BatchOf, class Objective>
  RealOf<T> operator()(const T& model, const std::vector<BatchOf>& parts, T& gradient, const Objective& objective) {
    if (parts.size() == 1) return loss_and_gradient(model, parts[0], gradient, objective);
    const OneThreadAProduct on_each;
    while (gradients_.size() + 1 < parts.size()) gradients_.push_back(std::make_unique<T>());
    std::vector<RealOf<T>> losses(parts.size(), RealOf<T>(0));
    threads_.at_once(parts.size(), [&](std::size_t k) {
      T& own = k == 0 ? gradient : *gradients_[k - 1];
      if (k > 0) zero_grad(own);
      losses[k] = loss_and_gradient(model, parts[k], own, objective);
    });
    // Each thread adds up its share of every weight: for one alone that is as much work as to move all of them.
    const auto of_first = parameters(gradient);
    threads_.at_once(parts.size(), [&](std::size_t k) {
      for (std::size_t part = 1; part < parts.size(); ++part) {
        const auto of_part = parameters(std::as_const(*gradients_[part - 1]));
        for (std::size_t w = 0; w < of_first.size(); ++w) {
          const std::size_t size = of_first[w].size(), last = size * (k + 1) / parts.size();
          for (std::size_t e = size * k / parts.size(); e < last; ++e) of_first[w].numbers[e] += of_part[w].numbers[e];
        }
      }
    });
    RealOf<T> sum(0);
    for (const RealOf<T>& loss : losses) sum += loss;
    return sum;
  }

 private:
  std::size_t least_tokens_;
  Pool threads_;
  std::vector<std::unique_ptr<T>> gradients_;
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
