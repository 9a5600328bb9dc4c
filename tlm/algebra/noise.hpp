// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <tlm/algebra/parts.hpp>
#include <tlm/base/hash.hpp>
#include <tlm/base/refuse.hpp>

namespace tlm {

/// Random numbers for layers such as Dropout, during training: an item of the environment that they may read. Without
/// it, these layers compute what they compute when the model is used.
///
/// Nothing is drawn. The number for column j of position i in sequence s is a function of these three, of the seed, of
/// the step, and of the layer. A layer is told by its number among the layers of the model that may read noise. So T(X;
/// noise) is a function, and has a derivative. It does not depend on which thread or rank computes which sequences.
class Noise {
 public:
  /// For a whole batch, in the step with this number. It is valid for this model only, as long as the model is not
  /// moved in memory.
  Noise(const auto& model, std::uint64_t seed, std::uint64_t step) : key_{mixed(mixed(seed) ^ step)} {
    detail::for_each_part(
        [this]<class Layer>(const Layer& layer) {
          if constexpr (requires { requires std::is_same_v<typename Layer::may_read, Noise>; })
            layers_.push_back(&layer);
        },
        model);
  }

  /// The noise of a part of this batch. The part begins with the sequence of this number.
  Noise from(std::size_t sequence) const {
    Noise part = *this;
    part.first_sequence_ += sequence;
    return part;
  }

  /// The numbers of one layer.
  struct OfLayer {
    std::uint64_t key;
    std::size_t first_sequence;

    /// A row's numbers: that of column j is mixed(row(s, i) + j), as if drawn uniformly from the integers below 2⁶⁴.
    std::uint64_t row(std::size_t sequence, std::size_t position) const {
      return mixed(mixed(key ^ (first_sequence + sequence)) ^ position);
    }
  };

  /// Throws std::invalid_argument for a layer that is not in the model.
  OfLayer of(const auto& layer) const {
    const auto found = std::find(layers_.begin(), layers_.end(), static_cast<const void*>(&layer));
    if (found == layers_.end()) refuse<std::invalid_argument>({"this noise was made for another model"});
    return {mixed(key_ ^ std::uint64_t(found - layers_.begin())), first_sequence_};
  }

 private:
  std::uint64_t key_;
  std::size_t first_sequence_ = 0;
  std::vector<const void*> layers_;
};

}  // namespace tlm
