// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <tlm/algebra/names.hpp>
#include <tlm/layers/positional_encoding.hpp>

namespace tlm {

namespace positions {

/// X ↦ X + P|n with constants P, which a derived class sets. They are not weights, and are not trained. `letter` is
/// their letter in the book.
template <Symbol letter, std::size_t max_len, std::size_t cols, class Real>
struct ConstantPositions : PositionalEncoding<max_len, cols, Real> {
  using typename PositionalEncoding<max_len, cols, Real>::domain;
  static auto written(const auto& X) { return X + letter; }

  /// X̄ = Ȳ: there are no weights.
  auto value_and_pullback(domain X) const {
    return with_pullback((*this)(std::move(X)), [](domain Y_bar, ConstantPositions&) { return Y_bar; });
  }

  static constexpr void weights(auto&&, auto&) {}

 private:
  // These are for the angles of a PE.
  static void angle(std::size_t) = delete;
  static void sinusoidal() = delete;
  static void offset(std::size_t) = delete;
};

}  // namespace positions

/// X ↦ X + W_p|n with the constants W_p: sines and cosines. (The Formulated Transformer, "Hyperparameters".) With positions
/// pos from 1 and i = 1, …, d_model/2,
///
///   W_p(pos, 2i−1) = sin(pos / 10000^(2i/d_model)),   W_p(pos, 2i) = cos(pos / 10000^(2i/d_model)),
///
/// where the columns count from 1. (As printed, with 2i and 2i+1, they leave out the first column and overrun the
/// last.)
template <std::size_t max_len, std::size_t d_model, class Real = float>
struct ConstantPositionalEncoding : positions::ConstantPositions<"W_p", max_len, d_model, Real> {
  using Encoding = PositionalEncoding<max_len, d_model, Real>;

  ConstantPositionalEncoding() { this->PE = Encoding::sinusoidal(&angle); }

  /// ω_i = 10000^(−2(i+1)/d_model), where i counts from 0.
  static double angle(std::size_t i) { return Encoding::angle(i + 1); }
};

/// The constants W_p of ConstantPositionalEncoding with other columns: all sines before all cosines. (The
/// Wolfram article, "Embedding"; its code has 10000 where its formula has the maximum length.) With positions pos from 1 and i =
/// 1, …, d_model/2,
///
///   W_p(pos, i) = sin(pos / 10000^(2i/d_model)),   W_p(pos, d_model/2 + i) = cos(pos / 10000^(2i/d_model)).
template <std::size_t max_len, std::size_t d_model, class Real = float>
struct SinesThenCosines : positions::ConstantPositions<"W_p", max_len, d_model, Real> {
  SinesThenCosines() {
    const ConstantPositionalEncoding<max_len, d_model, Real> pairs;
    for (std::size_t pos = 0; pos < max_len; ++pos)
      for (std::size_t j = 0; j < d_model; ++j) this->PE(pos, j / 2 + (j % 2) * d_model / 2) = pairs.PE(pos, j);
  }
};

}  // namespace tlm
