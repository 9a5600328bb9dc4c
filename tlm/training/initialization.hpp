// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>

#include <tlm/algebra/weights.hpp>
#include <tlm/random/generator.hpp>

namespace tlm {

/// Every weight becomes uniformly distributed over [−½, ½), independently, in the order of weights(). (Notebook,
/// generateRandomWeights.) The same generator gives the same weights on every machine.
template <class Layer>
void initialize_uniform(Layer& layer, Generator& generator) {
  for_each_weight(
      [&]<class Weight>(const Name&, Weight& weight) {
        for (std::size_t e = 0; e < Weight::size; ++e)
          weight.data()[e] = typename Weight::Real(generator.uniform() - 0.5);
      },
      layer);
}

/// Every matrix W becomes uniformly distributed over ±√(6/(rows + columns)) (Glorot and Bengio, 2010), independently, in
/// the order of weights(); each factor, such as the scale of a normalization, becomes 1, and each summand 0.
template <class Layer>
void initialize_glorot(Layer& layer, Generator& generator) {
  for_each_weight(
      [&]<class Weight>(const Name& name, Weight& weight) {
        using Real = typename Weight::Real;
        const double bound = std::sqrt(6.0 / double(Weight::size / Weight::cols + Weight::cols));
        for (std::size_t e = 0; e < Weight::size; ++e)
          weight.data()[e] =
              name.role == Role::matrix ? Real((2 * generator.uniform() - 1) * bound) : Real(name.role == Role::factor);
      },
      layer);
}

}  // namespace tlm
