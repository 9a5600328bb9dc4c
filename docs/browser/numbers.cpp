// SPDX-License-Identifier: MIT
// Small functions of the library at numbers that the reader chooses.

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include <tlm/layers/normalization.hpp>
#include <tlm/layers/positional_encoding.hpp>
#include <tlm/matrix/product.hpp>
#include <tlm/numbers/rows.hpp>
#include <tlm/training/loss.hpp>

#include "page.hpp"

namespace {

using namespace tlm;

template <auto rows, std::size_t cols>
void append(const Matrix<rows, cols, double>& X) {
  page::numbers.insert(page::numbers.end(), X.data(), X.data() + X.rows() * cols);
}

inline constexpr std::size_t longest = 64, width = 16;
using Encoding = PositionalEncoding<longest, width, double>;
using EncodingRow = Matrix<1, width, double>;

EncodingRow row_of(const Matrix<longest, width, double>& PE, std::size_t pos) {
  EncodingRow row;
  row.row(0) = PE.row(pos - 1);
  return row;
}

}  // namespace

extern "C" {

/// softmax(x/temperature).
[[clang::export_name("softmax")]] void softmax_of(double x_1, double x_2, double x_3, double x_4, double x_5,
                                                  double temperature) {
  page::numbers = {x_1 / temperature, x_2 / temperature, x_3 / temperature, x_4 / temperature, x_5 / temperature};
  softmax(detail::as_vector(page::numbers.data(), page::numbers.size()));
}

/// N(x), then mean(x) and σ(x): with all entries of a the same, and all of b.
[[clang::export_name("normalize")]] void normalize(double x_1, double x_2, double x_3, double x_4, double x_5, double a,
                                                   double b) {
  constexpr std::size_t d = 5;
  Normalization<"N", d, double> N;
  std::fill_n(N.a.data(), d, a);
  std::fill_n(N.b.data(), d, b);
  const Matrix<n, d, double> X{x_1, x_2, x_3, x_4, x_5};
  page::numbers.clear();
  append(N(X));
  const double mean = mean_of(X.row(0));
  page::numbers.push_back(mean);
  page::numbers.push_back(detail::DeviationPlusEpsilon::root(mean_of((X.row(0) - mean) * (X.row(0) - mean)), 1.0));
}

/// For two sequences of two tokens with these loss weights: −y for each token, the loss of each sequence, their mean, and the
/// loss of the batch. What has no weight has no loss: NaN.
[[clang::export_name("loss")]] void losses(double w_11, double w_12, double w_21, double w_22) {
  const auto sequences = Sequences::of_lengths({2, 2});
  Matrix<n, 2, double> Z{sequences};  // the scores of two tokens; the second one is to be predicted
  const double scores[] = {2, 1, -1, -2};
  Tokens x{sequences};
  Matrix<n, 1, double> omega{sequences};
  const double weights[] = {w_11, w_12, w_21, w_22};
  for (std::size_t k = 0; k < 4; ++k) {
    Z(k, 1) = scores[k];
    x(k, 0) = 1;
    omega(k, 0) = weights[k];
  }
  const auto Y = log_softmax(Z);
  page::numbers.clear();
  for (std::size_t k = 0; k < 4; ++k) page::numbers.push_back(-Y(k, 1));
  double sum = 0;
  for (std::size_t s = 0; s < 2; ++s) {
    auto of_one = omega;
    for (std::size_t k = 0; k < 4; ++k)
      if (k / 2 != s) of_one(k, 0) = 0;
    const double loss = cross_entropy(Y, x, of_one, sum_of(of_one));
    page::numbers.push_back(loss);
    sum += loss;
  }
  page::numbers.push_back(sum / 2);
  page::numbers.push_back(cross_entropy(Y, x, omega, sum_of(omega)));
}

/// PE_pos, PE_pos×T_k, PE_{pos+k}; and ⟨PE_pos, PE_q⟩ for q = 1, …, 64.
[[clang::export_name("rotate")]] void rotate(unsigned pos, unsigned k) {
  const auto PE = Encoding::sinusoidal();
  const EncodingRow at = row_of(PE, pos);
  page::numbers.clear();
  append(at);
  append(at * Encoding::offset(k));
  append(row_of(PE, pos + k));
  for (std::size_t q = 1; q <= longest; ++q) page::numbers.push_back(sum_of(at.row(0) * PE.row(q - 1)));
}
}
