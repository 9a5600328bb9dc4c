// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <tlm/algebra/parameters.hpp>
#include <tlm/base/generator.hpp>
#include <tlm/matrix/rearranged.hpp>
#include <tlm/training/initialization.hpp>

#include "printing.hpp"
#include "reference.hpp"

/// What the tests share: random inputs from fixed seeds, and the conversion of the library's matrices to those of the
/// reference.
namespace tlm::tests {

/// The vocabulary of the layers under test that read tokens.
inline constexpr std::size_t vocab_size = 5;

/// Sequences of unequal lengths, one of them of a single row.
inline Sequences unequal() { return Sequences::of_lengths({3, 1, 5}); }

/// The same matrix of other entries: tokens from the vocabulary, or numbers uniformly distributed over [−1, 1).
template <class M>
M randomized(M X, Generator& generator) {
  for (std::size_t e = 0; e < X.rows() * M::cols; ++e)
    if constexpr (std::is_integral_v<typename M::Real>)
      X.data()[e] = generator.integer(0, int(vocab_size) - 1);
    else
      X.data()[e] = typename M::Real(2 * generator.uniform() - 1);
  return X;
}

/// Random rows for these sequences.
template <class M>
M random_rows(const Sequences& sequences, Generator& generator) {
  return randomized(M{sequences}, generator);
}

/// A layer with weights uniformly distributed over [−½, ½). The generator may be a temporary one.
template <class F>
F random_layer(auto&& generator) {
  F layer;
  initialize_uniform(layer, generator);
  return layer;
}

/// The same numbers in double, for the reference.
template <auto n_rows, std::size_t cols, class Real>
reference::Table table(const Matrix<n_rows, cols, Real>& X) {
  reference::Table numbers(X.rows(), cols);
  for (std::size_t e = 0; e < numbers.entries.size(); ++e) numbers.entries[e] = double(X.data()[e]);
  return numbers;
}

/// The numbers of a weight, as a table.
template <class Real>
reference::Table table(const Parameter<Real>& weight) {
  reference::Table numbers(weight.rows, weight.cols);
  std::copy(weight.begin(), weight.end(), numbers.entries.begin());
  return numbers;
}

/// All weights of a layer by their paths.
template <class F>
reference::Weights weights_of(const F& layer) {
  reference::Weights weights;
  for (const auto& weight : parameters(layer)) weights.emplace(weight.path, table(weight));
  return weights;
}

/// The first path of `paths` where `initialize_uniform` has not put u − ½ for the generator's next numbers u, or
/// nothing. The paths are taken in this order.
template <class F>
std::string not_drawn_in_this_order(const std::vector<std::string>& paths) {
  Generator generator{21}, again{21};
  const auto weights = weights_of(random_layer<F>(generator));
  for (const std::string& path : paths)
    for (const double w : weights.at(path).entries)
      if (w != again.uniform() - 0.5) return path;
  return "";
}

/// `count` rows of X from row `first`, as one sequence.
template <std::size_t cols, class Real>
Matrix<n, cols, Real> rows(const Matrix<n, cols, Real>& X, std::size_t first, std::size_t count) {
  const Real* begin = X.data() + first * cols;
  return Matrix<n, cols, Real>{std::vector<Real>(begin, begin + count * cols)};
}

/// The tokens of a stack as plain numbers.
inline std::vector<Token> plain(const Tokens& x) { return {x.data(), x.data() + x.rows()}; }

/// The larger of two numbers. It is NaN if one of them is, so that no maximum of errors can lose it.
inline double greater(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// The maximum of |a − b| over all entries. Infinite if the shapes differ, NaN if a NaN is among the entries.
inline double distance(const reference::Table& A, const reference::Table& B) {
  if (A.rows != B.rows || A.cols != B.cols) return std::numeric_limits<double>::infinity();
  double greatest = 0;
  for (std::size_t e = 0; e < A.entries.size(); ++e)
    greatest = greater(greatest, std::abs(A.entries[e] - B.entries[e]));
  return greatest;
}

/// The maximum of |a − b| over all entries of two matrices of the library.
template <auto n_rows, std::size_t cols, class Real>
double distance(const Matrix<n_rows, cols, Real>& A, const Matrix<n_rows, cols, Real>& B) {
  return distance(table(A), table(B));
}

/// The maximum distance between two weights with the same name.
template <class F>
double distance_of_weights(const F& left, const F& right) {
  const auto of_left = parameters(left), of_right = parameters(right);
  double greatest = 0;
  for (std::size_t k = 0; k < of_left.size(); ++k)
    greatest = greater(greatest, distance(table(of_left[k]), table(of_right[k])));
  return greatest;
}

/// Whether all weights are the same, bit for bit.
template <class T>
bool same_bits(const T& a, const T& b) {
  const auto of_a = parameters(a), of_b = parameters(b);
  for (std::size_t k = 0; k < of_a.size(); ++k)
    if (std::memcmp(of_a[k].numbers, of_b[k].numbers, of_a[k].size() * sizeof *of_a[k].numbers) != 0) return false;
  return true;
}

/// The maximum of |a|.
inline double scale(const reference::Table& A) { return distance(A, reference::Table(A.rows, A.cols)); }

}  // namespace tlm::tests
