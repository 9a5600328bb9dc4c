// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <tlm/matrix/blas.hpp>
#include <tlm/matrix/helpers.hpp>
#include <tlm/parallel/helping_threads.hpp>
#include <tlm/training/loss.hpp>

/// A batch learned from by several threads at once: each takes a part of its sequences.
namespace tlm {

/// So many tokens of a batch make up for what a thread costs that computes them: it is woken twice, and its gradient is set to
/// zero and added to that of the others. That is work for each weight, as is a token: so the number is about the same for small
/// models and great ones. (Measured on two cores, with T_LM of two blocks and Adam: two threads take as long as one with about
/// 10 to 14 tokens for each where d_model is 128 or 256, and with about 28 where it is 64, and less with more.)
inline constexpr std::size_t worth_a_thread = 32;

/// Threads that compute losses and gradients of a model of type T, and help the one that has made them: with the steps of an
/// optimizer, and where a batch is one sequence with its products and its attention.
///
/// Each but the first, which is the thread that asks, has a gradient of its own, as soon as it is given sequences. They live as
/// long as this object, and sleep where there is nothing to do. Inside each of them OpenBLAS uses one thread, as these share the
/// processors already: making such threads tells it so, for the whole process (blas::multiply_on_threads).
template <class T>
class Threads {
 public:
  /// So many threads, or fewer where a batch has not `least_tokens` for each. Throws std::invalid_argument for 0 threads, and
  /// std::bad_alloc if there is no room for them to multiply.
  explicit Threads(std::size_t count, std::size_t least_tokens = worth_a_thread)
      : least_tokens_{least_tokens}, threads_{count} {
    if (count > 1) blas::multiply_on_threads(count);
  }
  /// How many there are, with the one that asks.
  std::size_t count() const { return threads_.count(); }
  /// Among how many of them a batch of so many tokens is shared.
  std::size_t count_for(std::size_t tokens) const {
    return std::clamp<std::size_t>(tokens / std::max<std::size_t>(1, least_tokens_), 1, count());
  }
  /// As long as what this returns exists, the others help this thread with all that is large: const Helped helped =
  /// threads.help(); before a training, so that they set gradients to zero and move weights, too.
  Helped help() { return Helped{&threads_}; }

  /// The sum of the losses of all parts by this objective, each on a thread of its own, and one alone with the help of the
  /// others; adds their gradients to `gradient`, in the order of the parts. So the bits depend on the parts, and not on which of
  /// them is done first. Throws what the first part throws that throws, and then the gradient may have that of some parts; and
  /// std::invalid_argument for more parts than threads.
  template <class BatchOf, class Objective>
  RealOf<T> operator()(const T& model, const std::vector<BatchOf>& parts, T& gradient, const Objective& objective) {
    while (gradients_.size() + 1 < parts.size()) gradients_.push_back(std::make_unique<T>());
    std::vector<RealOf<T>> losses(parts.size(), RealOf<T>(0));
    threads_.at_once(parts.size(), [&](std::size_t k) {
      T& own = k == 0 ? gradient : *gradients_[k - 1];
      if (k > 0) set_to_zero(own);
      losses[k] = loss_and_gradient(model, parts[k], own, objective);
    });
    // Each thread adds up its share of every weight: for one alone that is as much work as to move all of them.
    const auto of_first = numbers_of(gradient);
    threads_.at_once(parts.size(), [&](std::size_t k) {
      for (std::size_t part = 1; part < parts.size(); ++part) {
        const auto of_part = numbers_of(std::as_const(*gradients_[part - 1]));
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
  HelpingThreads threads_;
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
