// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <type_traits>

#include <tlm/algebra/diagnosis.hpp>
#include <tlm/algebra/parameters.hpp>
#include <tlm/base/generator.hpp>

namespace tlm {

/// Every weight becomes uniformly distributed over [−½, ½], independently, in the order of weights(). (Notebook,
/// generateRandomWeights.) The same generator gives the same weights on every machine.
template <class Layer>
void initialize_uniform(Layer& layer, Generator& generator) {
  for (const auto& weight : parameters(layer))
    for (auto& w : weight) w = std::remove_reference_t<decltype(w)>(generator.uniform() - 0.5);
}

/// Every matrix W becomes uniformly distributed over ±√(6/(rows + columns)) (Glorot and Bengio, 2010), independently,
/// in the order of weights(). Each factor, such as the scale of a normalization, becomes 1, and each summand 0.
template <class Layer>
void initialize_glorot(Layer& layer, Generator& generator) {
  using Real = typename CodomainOf<Layer>::Real;
  for (const auto& weight : parameters(layer)) {
    const double bound = std::sqrt(6.0 / double(weight.rows + weight.cols));
    for (Real& w : weight)
      w = weight.role == Role::matrix ? Real((2 * generator.uniform() - 1) * bound) : Real(weight.role == Role::factor);
  }
}

}  // namespace tlm
