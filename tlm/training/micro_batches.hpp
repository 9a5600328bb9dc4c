// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include <tlm/base/refuse.hpp>
#include <tlm/matrix/rearranged.hpp>
#include <tlm/training/batch.hpp>

/// Batches that do not fit into memory at once.
namespace tlm {

/// The batch of sequences first, …, last − 1. Throws std::invalid_argument unless each token has a weight, and
/// std::out_of_range unless these sequences are in it.
template <class Real>
Batch<Real> sequences_of(const Batch<Real>& batch, std::size_t first, std::size_t last) {
  require_same_sequences("the tokens", batch.x.sequences(), "the loss weights", batch.omega.sequences());
  return {batch.start, sequences_of(batch.x, first, last), sequences_of(batch.omega, first, last)};
}

/// A batch in parts, computed one after the other (gradient accumulation). So what the derivative needs is in memory
/// for one part at a time. Loss and gradient are those of the whole batch. An error counts sequences in its part.
template <class BatchOf>
struct MicroBatches {
  std::vector<BatchOf> batches;
};

/// A batch in parts of `size` sequences; the last part has the rest. Throws std::invalid_argument for a size of 0, and
/// what sequences_of throws.
template <class BatchOf>
MicroBatches<BatchOf> micro_batches(const BatchOf& batch, std::size_t size) {
  if (size == 0) refuse<std::invalid_argument>({"parts of 0 sequences make no batch: at least 1 is needed in each"});
  MicroBatches<BatchOf> parts;
  for (std::size_t first = 0, count = batch.sequence_count(); first < count; first += size)
    parts.batches.push_back(sequences_of(batch, first, std::min(first + size, count)));
  return parts;
}

/// Σω of the whole batch. Throws what targets_of throws, and std::invalid_argument if there are no parts.
template <class T, class BatchOf>
RealOf<T> sum_of_weights(const MicroBatches<BatchOf>& whole) {
  if (whole.batches.empty())
    refuse<std::invalid_argument>({"a batch in parts needs at least one part; this one has none"});
  RealOf<T> sum(0);
  for (const BatchOf& part : whole.batches) sum += sum_of(targets_of<T>(part).omega);
  return sum;
}

/// An objective with a given divisor c: for a part of a batch, the divisor of the whole. However a batch is split,
/// divide the loss of each part by the c of the whole. Then the losses add up to the loss of the whole, and so do the
/// gradients.
template <class Real, class Distribution = OneHot>
struct DividedBy {
  Real c;
  Distribution wanted{};

  Real divisor(const Real&) const { return c; }  ///< c
  Distribution q() const { return wanted; }      ///< q
};
template <class Real, class Distribution>
DividedBy(Real, Distribution) -> DividedBy<Real, Distribution>;

/// The objective of each part, with the c of the whole batch. Throws what sum_of_weights and the objective throw.
template <class T, class BatchOf, class Objective>
auto objective_of_parts(const MicroBatches<BatchOf>& whole, const Objective& objective) {
  return DividedBy{objective.divisor(sum_of_weights<T>(whole)), objective.q()};
}

/// The loss of the whole batch: the sum of its parts' losses, each divided by the c of the whole. So Mean is the mean over
/// all tokens, and not the mean of the parts' means. Throws what objective_of_parts and the loss of a part throw.
template <class T, class BatchOf, class Objective = Mean>
RealOf<T> loss(const T& model, const MicroBatches<BatchOf>& whole, const Objective& objective = {}) {
  const auto of_parts = objective_of_parts<T>(whole, objective);
  RealOf<T> sum(0);
  for (const BatchOf& part : whole.batches) sum += loss(model, part, of_parts);
  return sum;
}

/// Returns the same loss, and adds its gradient to `gradient`, part by part. Throws like loss; then `gradient` may have the
/// gradients of some parts.
template <class T, class BatchOf, class Objective = Mean>
RealOf<T> loss_and_gradient(const T& model, const MicroBatches<BatchOf>& whole, T& gradient,
                            const Objective& objective = {}) {
  const auto of_parts = objective_of_parts<T>(whole, objective);
  RealOf<T> sum(0);
  for (const BatchOf& part : whole.batches) sum += loss_and_gradient(model, part, gradient, of_parts);
  return sum;
}

}  // namespace tlm
