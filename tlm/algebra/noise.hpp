// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <tlm/algebra/weights.hpp>
#include <tlm/base/hash.hpp>
#include <tlm/base/refuse.hpp>

namespace tlm {

/// Chance, as an entry of the environment: what layers that are disturbed while a model learns read, if it is provided.
/// Without it they are what they are when the model is used.
///
/// Nothing is drawn: the number for column j of position i in sequence s is a function of these three, of the layer's place
/// among those of the model that may read noise, of the seed and of the step. So T(X; noise) is a function like others, has a
/// derivative, and is the same whoever computes which sequences of a batch.
class Noise {
 public:
  /// For a whole batch of a model, in its step with this number: for this model, where it stands, and for as long as it
  /// stands there.
  template <class Model>
  Noise(const Model& model, std::uint64_t seed, std::uint64_t step) : key_{mixed(mixed(seed) ^ step)} {
    find_layers(model);
  }

  /// The same for a part of this batch, whose first sequence is number `sequence` of it.
  Noise from(std::size_t sequence) const {
    Noise part = *this;
    part.first_sequence_ += sequence;
    return part;
  }

  /// The numbers of one layer.
  class OfLayer {
   public:
    /// The numbers of a row: of column j it is mixed(row(s, i) + j), as if drawn uniformly over the integers below 2⁶⁴.
    std::uint64_t row(std::size_t sequence, std::size_t position) const {
      return mixed(mixed(key_ ^ (first_sequence_ + sequence)) ^ position);
    }

   private:
    friend Noise;
    OfLayer(std::uint64_t key, std::size_t first_sequence) : key_{key}, first_sequence_{first_sequence} {}
    std::uint64_t key_;
    std::size_t first_sequence_;
  };

  /// Throws std::invalid_argument for a layer that is not in the model.
  template <class Layer>
  OfLayer of(const Layer& layer) const {
    const auto found = std::find(layers_.begin(), layers_.end(), static_cast<const void*>(&layer));
    if (found == layers_.end())
      refuse<std::invalid_argument>({"this noise is for the layers of another model than the one that is computed"});
    return {mixed(key_ ^ std::uint64_t(found - layers_.begin())), first_sequence_};
  }

 private:
  template <class Layer>
  void find_layers(const Layer& layer) {
    if constexpr (requires { requires std::is_same_v<typename Layer::may_read, Noise>; })
      layers_.push_back(&layer);
    else if constexpr (requires { Layer::parts([](std::size_t, auto&) {}, layer); })
      Layer::parts([this](std::size_t, const auto& part) { this->find_layers(part); }, layer);
  }

  std::uint64_t key_;
  std::size_t first_sequence_ = 0;
  std::vector<const void*> layers_;
};

}  // namespace tlm
