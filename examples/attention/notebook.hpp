// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/parameters.hpp>
#include <tlm/layers/affine.hpp>
#include <tlm/layers/multi_head.hpp>

/// The NumPy notebook's layers, their inputs at full precision and the numbers that it prints, which have 3 decimals.
namespace notebook {

using tlm::n;

inline constexpr std::size_t D = 4;  ///< The dimension of the inputs.
inline constexpr std::size_t M = 3;  ///< The dimension of keys, queries and values.
inline constexpr std::size_t h = 3;  ///< The number of heads.

template <class Mask, std::size_t heads, template <class> class Source>
using Attention = tlm::LinearHeads<"Q", "K", "V", D, heads, M, M, Mask, Source, double>;

using SelfAttention = Attention<tlm::Unmasked, 1, tlm::FromItself>;
using MaskedSelfAttention = Attention<tlm::Causal, 1, tlm::FromItself>;
using CrossAttention = Attention<tlm::Unmasked, 1, tlm::FromMemory>;

/// Several heads and the transformation W.
template <class Mask, template <class> class Source>
using Transformed = tlm::Composition<tlm::Times<"W", h * M, D, double>, Attention<Mask, h, Source>>;

using Heads = Attention<tlm::Unmasked, h, tlm::FromItself>;
using MaskedHeads = Attention<tlm::Causal, h, tlm::FromItself>;
using CrossHeads = Attention<tlm::Unmasked, h, tlm::FromMemory>;

using MultiHead = Transformed<tlm::Unmasked, tlm::FromItself>;
using MaskedMultiHead = Transformed<tlm::Causal, tlm::FromItself>;
using MultiHeadCross = Transformed<tlm::Unmasked, tlm::FromMemory>;

/// The map that makes the keys (K), queries (Q) or values (V) of one head.
template <tlm::Symbol letter>
using Linear = tlm::Times<letter, D, M, double>;

using Inputs = tlm::Matrix<n, D, double>;
using Memory = tlm::Memory<Inputs>;

/// A weight as rows, to show and compare it like an output.
template <std::size_t rows, std::size_t cols>
tlm::Matrix<n, cols, double> rows_of(const tlm::Matrix<rows, cols, double>& W) {
  tlm::Matrix<n, cols, double> all{tlm::Sequences{rows}};
  std::copy_n(W.data(), rows * cols, all.data());
  return all;
}

/// The two files beside this one.
class Numbers {
 public:
  /// Throws std::runtime_error if a file is not there.
  explicit Numbers(const std::string& directory)
      : inputs_(read(directory + "/inputs.json")), published_(read(directory + "/published.json")) {}

  /// An input at full precision.
  template <class Matrix>
  Matrix input(const std::string& name) const {
    return matrix<Matrix>(inputs_.at(name));
  }

  /// What the notebook prints, to 3 decimals.
  template <std::size_t cols>
  tlm::Matrix<n, cols, double> published(const std::string& name) const {
    return matrix<tlm::Matrix<n, cols, double>>(published_.at(name));
  }

  /// The relative error that the notebook reports for the gradient of a layer with respect to one of its inputs or
  /// weights; none if it reports none.
  std::optional<double> gradient_error(const std::string& layer, const std::string& by) const {
    const auto& errors = published_.at("gradient errors").at(layer);
    return errors.contains(by) ? std::optional<double>(errors.at(by).get<double>()) : std::nullopt;
  }

  /// A layer with the notebook's K, Q and V in every head, and W.
  template <class Layer>
  Layer layer() const {
    Layer layer;
    for (const auto& weight : tlm::parameters(layer)) {
      const auto& rows = inputs_.at(std::string(weight.path));
      const std::size_t width = rows[0].size();
      for (std::size_t e = 0; e < weight.size(); ++e)
        weight.numbers[e] = rows[e / weight.cols][e % weight.cols % width].template get<double>();
    }
    return layer;
  }

 private:
  static nlohmann::json read(const std::string& path) {
    std::ifstream file{path};
    if (!file) throw std::runtime_error("there is no file " + path);
    return nlohmann::json::parse(file);
  }

  template <class Matrix>
  static Matrix matrix(const nlohmann::json& rows) {
    std::vector<double> entries;
    for (const auto& row : rows)
      for (const auto& entry : row) entries.push_back(entry.get<double>());
    return Matrix{entries};
  }

  nlohmann::json inputs_, published_;
};

}  // namespace notebook
