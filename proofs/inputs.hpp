#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tlm/tlm.hpp>

#include "arithmetic/dual.hpp"
#include "arithmetic/positions.hpp"
#include "arithmetic/prime_field.hpp"
#include "layers.hpp"

/// Inputs and weights in each arithmetic, from a seed.
namespace tlm::proofs {

/// A random number: of the prime field; from [−1, 1) in floating point; a constant among the sets of positions.
template <class Real>
Real draw(Generator& generator) {
  if constexpr (std::is_same_v<Real, PrimeField>)
    return PrimeField::random(generator);
  else if constexpr (std::is_same_v<Real, Positions>)
    return Positions(1);
  else if constexpr (std::is_floating_point_v<Real>)
    return Real(2 * generator.uniform() - 1);
  else
    return Real(generator.integer(0, int(vocab_size) - 1));  // tokens
}

/// Whether σ ≥ 0.1 for the row at x. Normalization amplifies rows that are almost constant, and their rounding errors, by
/// up to 1/ε: such rows are left to the exact arithmetics.
template <class Real>
bool varied(const Real* x, std::size_t cols) {
  if constexpr (std::is_floating_point_v<Real>) {
    Real sum(0), squares(0);
    for (std::size_t j = 0; j < cols; ++j) sum += x[j], squares += x[j] * x[j];
    return squares / Real(cols) - sum * sum / Real(cols * cols) >= Real(0.01);
  } else {
    return true;
  }
}

/// A random matrix with these sequences; in floating point, of two columns or more, with σ ≥ 0.1 in each of its rows.
template <class M>
M draw_matrix(const Sequences& sequences, Generator& generator) {
  M X{sequences};
  for (std::size_t i = 0; i < X.rows(); ++i) {
    do
      for (std::size_t j = 0; j < M::cols; ++j) X(i, j) = draw<typename M::Real>(generator);
    while (!varied(&X(i, 0), M::cols));
  }
  return X;
}

/// What a layer or model takes: a matrix, or for an encoder–decoder a source and a target. The sources are as long as the
/// targets in reverse order, and one row longer.
template <class Domain>
Domain draw_input(const Sequences& sequences, Generator& generator) {
  if constexpr (requires { typename Domain::Real; }) {
    return draw_matrix<Domain>(sequences, generator);
  } else {
    std::vector<std::size_t> lengths;
    for (std::size_t s = sequences.count(); s-- > 0;) lengths.push_back(sequences.length(s) + 1);
    Tokens x = draw_matrix<Tokens>(Sequences::of_lengths(lengths), generator);
    return {std::move(x), draw_matrix<Tokens>(sequences, generator)};
  }
}

/// Pairs one under the other.
inline SourceAndTarget<Tokens, Tokens> stack(const std::vector<SourceAndTarget<Tokens, Tokens>>& pairs) {
  std::vector<Tokens> x, y;
  for (const auto& pair : pairs) x.push_back(pair.x), y.push_back(pair.y);
  return {tlm::stack(x), tlm::stack(y)};
}

/// A layer with random weights.
template <class Layer>
Layer draw_layer(Generator& generator) {
  Layer layer;
  for_each_weight(
      [&]<class Weight>(const Name&, Weight& weight) {
        for (std::size_t e = 0; e < Weight::size; ++e) weight.data()[e] = draw<typename Weight::Real>(generator);
      },
      layer);
  return layer;
}

/// X with the tag of its position on every entry, counted within its sequence of those `sequences`.
template <class M>
M tagged(const Sequences& sequences) {
  M X{sequences};
  for (std::size_t i = 0; i < X.rows(); ++i)
    for (std::size_t j = 0; j < M::cols; ++j) X(i, j) = Positions::position(i);
  return X;
}

}  // namespace tlm::proofs
