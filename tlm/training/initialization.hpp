#pragma once

#include <cstddef>

#include <tlm/algebra/weights.hpp>
#include <tlm/training/generator.hpp>

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

}  // namespace tlm
