// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <tlm/algebra/application.hpp>
#include <tlm/base/refuse.hpp>

namespace tlm {

/// What layers that depend on positions have in common.
namespace positions {

/// Adds P|n to each sequence of X: each row receives the row of P for its position, which counts on from the `lengths`
/// so far.
///
/// X has as many sequences as before. Throws std::length_error for a sequence longer than max_len.
template <std::size_t max_len, std::size_t cols, class Real>
Matrix<n, cols, Real> add_positions(const Matrix<max_len, cols, Real>& P, std::vector<std::size_t>& lengths,
                                    Matrix<n, cols, Real> X) {
  const Sequences& sequences = X.sequences();
  if (lengths.empty()) lengths.resize(sequences.count());
  for (std::size_t s = 0; s < sequences.count(); ++s) {
    if (lengths[s] + sequences.length(s) > max_len)
      refuse<std::length_error>({"sequence ", s + 1, ", of ", lengths[s] + sequences.length(s),
                                 " tokens, is too long: max_len is ", max_len});
    for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i) X.row(i) += P.row(lengths[s]++);
  }
  return X;
}

/// P̄ += what add_positions pulls back to P: row pos receives Ȳ at that position of every sequence. No sequence is
/// longer than P.
template <std::size_t max_len, std::size_t cols, class Real>
void accumulate_positions(Matrix<max_len, cols, Real>& P_bar, const Matrix<n, cols, Real>& Y_bar) {
  const Sequences& sequences = Y_bar.sequences();
  for (std::size_t s = 0; s < sequences.count(); ++s)
    for (std::size_t pos = 0; pos < sequences.length(s); ++pos) P_bar.row(pos) += Y_bar.row(sequences.begin(s) + pos);
}

}  // namespace positions

/// PE(X) = X + PE|n, where n is the number of rows of X and PE is a max_len × d_model weight matrix.
/// (Article, "Positional Encoding".)
///
/// Autoregressive: PE|i does not depend on the rows after i. It is not rowwise, although the article says that it is. A
/// sequence of one row always receives the first row of PE, so PE(X_i) ≠ PE(X)_i in general.
template <std::size_t max_len, std::size_t d_model, class Real = float>
struct PositionalEncoding {
  using declared = is::Autoregressive;
  using domain = Matrix<n, d_model, Real>;
  using codomain = domain;
  static constexpr std::string_view symbol = "PE";

  Matrix<max_len, d_model, Real> PE;

  /// Throws std::length_error for a sequence longer than max_len.
  codomain operator()(domain X) const {
    State no_rows{};
    return extend(no_rows, std::move(X));
  }

  /// dY = dX + dPE|n, hence X̄ = Ȳ, and row pos of PE receives Ȳ at that position of every sequence.
  auto value_and_pullback(domain X) const {
    return with_pullback((*this)(std::move(X)), [](codomain Y_bar, PositionalEncoding& gradient) {
      positions::accumulate_positions(gradient.PE, Y_bar);
      return Y_bar;
    });
  }

  using State = std::vector<std::size_t>;  ///< How long each sequence is so far.

  /// X has as many sequences as before: tlm::advance refuses anything else. Throws like add_positions.
  codomain extend(State& state, domain X) const { return positions::add_positions(PE, state, std::move(X)); }

  /// The article's angle ω_i = 10000^(−2i/d_model), in radians.
  static double angle(std::size_t i) { return 1.0 / std::pow(10000.0, 2.0 * double(i) / double(d_model)); }

  /// The sinusoidal table for the angles ω_i:
  ///
  ///   PE(pos, 2i) = sin(pos·ω_i),   PE(pos, 2i+1) = cos(pos·ω_i)
  ///
  /// with positions from 1, and columns from 0. By default these are the article's initial weights, with pos·ω_i =
  /// pos / 10000^(2i/d_model). Every sine has its cosine, so a linear map takes PE_pos to PE_{pos+k}
  /// (proofs/06_linear_offset.cpp).
  template <class Angle = decltype(&angle)>
  static Matrix<max_len, d_model, Real> sinusoidal(const Angle& omega = &angle) {
    static_assert(d_model % 2 == 0, "the sinusoidal positional encoding needs an even d_model: its columns are pairs");
    using std::cos, std::sin;  // or those of the angle
    Matrix<max_len, d_model, Real> PE;
    for (std::size_t pos = 1; pos <= max_len; ++pos)
      for (std::size_t i = 0; i < d_model / 2; ++i) {
        PE(pos - 1, 2 * i) = Real(sin(double(pos) * omega(i)));
        PE(pos - 1, 2 * i + 1) = Real(cos(double(pos) * omega(i)));
      }
    return PE;
  }

  /// T_k, the linear map with PE_pos×T_k = PE_{pos+k} for the sinusoidal PE of these angles ω_i. Rows are multiplied
  /// from the right. T_k consists of rotations by kω_i, block by block. (Article, "Positional Encoding".) From the
  /// addition theorems,
  ///
  ///   (sin(pos·ω), cos(pos·ω)) ( cos kω  −sin kω )  =  (sin((pos+k)ω), cos((pos+k)ω)).
  ///                            ( sin kω   cos kω )
  template <class Angle = decltype(&angle)>
  static Matrix<d_model, d_model, Real> offset(std::size_t k, const Angle& omega = &angle) {
    static_assert(d_model % 2 == 0, "the sinusoidal positional encoding needs an even d_model: its columns are pairs");
    using std::cos, std::sin;  // or those of the angle
    Matrix<d_model, d_model, Real> T_k;
    for (std::size_t i = 0; i < d_model / 2; ++i) {
      const Real c = Real(cos(double(k) * omega(i))), s = Real(sin(double(k) * omega(i)));
      T_k(2 * i, 2 * i) = T_k(2 * i + 1, 2 * i + 1) = c;
      T_k(2 * i + 1, 2 * i) = s;
      T_k(2 * i, 2 * i + 1) = -s;
    }
    return T_k;
  }

  static constexpr void weights(auto&& visit, auto& layer) { visit("PE", layer.PE); }
};

}  // namespace tlm
