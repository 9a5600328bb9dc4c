// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <tlm/algebra/noise.hpp>
#include <tlm/training/batch.hpp>

/// How a model with a Dropout learns.
namespace tlm {

/// A batch that is read with noise: its loss and gradient are those of T(·; noise).
template <class BatchOf>
struct Noisy : BatchOf {
  Noise noise;
};
/// Noisy{batch, noise} is a Noisy of the batch's type.
template <class BatchOf>
Noisy(BatchOf, Noise) -> Noisy<BatchOf>;

/// Sequences first, …, last − 1, each with the noise that it has in the whole. Throws like that of the batch.
template <class BatchOf>
Noisy<BatchOf> sequences_of(const Noisy<BatchOf>& noisy, std::size_t first, std::size_t last) {
  const BatchOf& batch = noisy;
  return {sequences_of(batch, first, last), noisy.noise.from(first)};
}

}  // namespace tlm
