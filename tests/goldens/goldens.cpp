// SPDX-License-Identifier: MIT
// Every number that the NumPy notebook prints for its layers, computed from its inputs at full precision (it prints 3
// decimals). Then its identities, and its closed-form cotangents beside the library's pullbacks.

#include <doctest/doctest.h>

#include <cmath>

#include <examples/attention/notebook.hpp>
#include <tlm/algebra/weight_by_path.hpp>
#include <tlm/matrix/rearranged.hpp>

using namespace notebook;
using tlm::accumulate, tlm::Matrix, tlm::sequence, tlm::part, tlm::Sequences, tlm::concat_sequences, tlm::transposed,
    tlm::weight;

namespace {

const Numbers numbers{GOLDENS};

/// The maximum difference of two matrices.
template <auto rows, std::size_t cols>
double difference(const tlm::Matrix<rows, cols, double>& left, const tlm::Matrix<rows, cols, double>& right) {
  REQUIRE(left.rows() == right.rows());
  double greatest = 0;
  for (std::size_t e = 0; e < left.rows() * cols; ++e)
    greatest = std::max(greatest, std::abs(left.data()[e] - right.data()[e]));
  return greatest;
}

template <std::size_t cols>
double from_published(const std::string& name, const tlm::Matrix<n, cols, double>& ours) {
  return difference(ours, numbers.published<cols>(name));
}

constexpr double three_decimals = 5.1e-4;

/// α = softmax(x Q Kᵀ yᵀ / √M), by plain loops.
std::vector<std::vector<double>> scores(const Inputs& queries, const Inputs& keys, const Matrix<D, M, double>& Q,
                                        const Matrix<D, M, double>& K) {
  const auto q = queries * Q, k = keys * K;
  std::vector<std::vector<double>> alpha(q.rows(), std::vector<double>(k.rows()));
  for (std::size_t i = 0; i < q.rows(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < k.rows(); ++j) {
      double beta = 0;
      for (std::size_t m = 0; m < M; ++m) beta += q(i, m) * k(j, m);
      sum += alpha[i][j] = std::exp(beta / std::sqrt(double(M)));
    }
    for (double& alpha_ij : alpha[i]) alpha_ij /= sum;
  }
  return alpha;
}

const auto x = numbers.input<Inputs>("x");

/// Whether `layer` of an input is what the notebook prints: alone, and in a batch of three copies, as there.
template <class Layer>
void check_published(const std::string& name, const Layer& layer) {
  CHECK(from_published(name, layer(x)) < three_decimals);
  const auto batch = layer(concat_sequences<D, double>({x, x, x}));
  for (std::size_t s = 0; s < 3; ++s) CHECK(from_published(name, sequence(batch, s)) < three_decimals);
}

/// The same of a layer that reads a memory; the notebook's batch has two copies.
template <class Layer>
void check_published_cross(const std::string& name, const Layer& layer) {
  const auto y = numbers.input<Inputs>("y"), x_dec = numbers.input<Inputs>("x_dec");
  CHECK(from_published(name, layer(x_dec, Memory{y})) < three_decimals);
  const auto batch = layer(concat_sequences<D, double>({x_dec, x_dec}), Memory{concat_sequences<D, double>({y, y})});
  for (std::size_t s = 0; s < 2; ++s) CHECK(from_published(name, sequence(batch, s)) < three_decimals);
}

}  // namespace

TEST_CASE("the committed inputs are the printed ones") {
  CHECK(from_published("x", x) < three_decimals);
  const auto layer = numbers.layer<SelfAttention>();
  CHECK(from_published("K", rows_of(weight<"K">(layer))) < three_decimals);
  CHECK(from_published("Q", rows_of(weight<"Q">(layer))) < three_decimals);
  CHECK(from_published("V", rows_of(weight<"V">(layer))) < three_decimals);
  const auto multi_head = numbers.layer<MultiHead>();
  CHECK(from_published("W", rows_of(weight<"W">(multi_head))) < three_decimals);
}

TEST_CASE("self-attention: keys, queries, values, scores, output") {
  const auto layer = numbers.layer<SelfAttention>();
  CHECK(from_published("keys", part<Linear<"K">>(layer)(x)) < three_decimals);
  CHECK(from_published("queries", part<Linear<"Q">>(layer)(x)) < three_decimals);
  CHECK(from_published("values", part<Linear<"V">>(layer)(x)) < three_decimals);
  const auto alpha = layer.value_and_weights(x).weights;
  const auto published = numbers.published<2>("attention scores");
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j) CHECK(std::abs(alpha(0, 0)(i, j) - published(i, j)) < three_decimals);
  check_published("self-attention", layer);
}

TEST_CASE("masked self-attention") { check_published("masked self-attention", numbers.layer<MaskedSelfAttention>()); }

TEST_CASE("multi-head attention, with and without the mask; its heads are copies") {
  const auto layer = numbers.layer<MultiHead>();
  check_published("multi-head", layer);
  check_published("heads out", part<Heads>(layer));
  const auto masked = numbers.layer<MaskedMultiHead>();
  check_published("masked multi-head", masked);
  check_published("masked heads out", part<MaskedHeads>(masked));
  const auto one = numbers.layer<SelfAttention>()(x);
  const auto heads = part<Heads>(layer)(x);
  for (std::size_t i = 0; i < x.rows(); ++i)
    for (std::size_t j = 0; j < h * M; ++j) CHECK(std::abs(heads(i, j) - one(i, j % M)) < 1e-15);
}

TEST_CASE("cross-attention, of one head and of several") {
  check_published_cross("cross-attention", numbers.layer<CrossAttention>());
  const auto layer = numbers.layer<MultiHeadCross>();
  check_published_cross("multi-head cross-attention", layer);
  check_published_cross("cross heads out", part<CrossHeads>(layer));
}

TEST_CASE("the pipelined form softmax(x Q Kᵀ xᵀ/√M) x V is the layer") {
  const auto layer = numbers.layer<SelfAttention>();
  const auto alpha = scores(x, x, weight<"Q">(layer), weight<"K">(layer));
  Inputs alpha_x{x.sequences(), 0.0};
  for (std::size_t i = 0; i < x.rows(); ++i)
    for (std::size_t j = 0; j < x.rows(); ++j)
      for (std::size_t d = 0; d < D; ++d) alpha_x(i, d) += alpha[i][j] * x(j, d);
  CHECK(difference(alpha_x * weight<"V">(layer), layer(x)) < 1e-14);
}

TEST_CASE("the closed-form cotangents of x, K, Q and V are those of our pullbacks") {
  const auto layer = numbers.layer<SelfAttention>();
  const auto &K = weight<"K">(layer), &Q = weight<"Q">(layer), &V = weight<"V">(layer);
  const Matrix<n, M, double> Z_bar{0.5, -1, 2, 1, 0.25, -0.75};
  const auto alpha = scores(x, x, Q, K);

  // ᾱ = Z̄ (xV)ᵀ, and β̄ = softmax_backward(ᾱ)/√M.
  const auto values = x * V;
  double alpha_bar[2][2] = {}, beta_bar[2][2];
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      for (std::size_t m = 0; m < M; ++m) alpha_bar[i][j] += Z_bar(i, m) * values(j, m);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      beta_bar[i][j] = alpha[i][j] * (alpha_bar[i][j] - alpha[i][0] * alpha_bar[i][0] - alpha[i][1] * alpha_bar[i][1]) /
                       std::sqrt(double(M));

  // A 2×2 matrix, or its transpose, times one of 2 rows.
  const auto times = []<std::size_t cols>(const auto& A, bool transposed_A, const Matrix<n, cols, double>& B) {
    Matrix<n, cols, double> C{B.sequences(), 0.0};
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 2; ++j)
        for (std::size_t k = 0; k < cols; ++k) C(i, k) += (transposed_A ? A[j][i] : A[i][j]) * B(j, k);
    return C;
  };
  Matrix<D, M, double> V_bar, Q_bar, K_bar;
  accumulate(V_bar, transposed(times(alpha, false, x)), Z_bar);       // V̄ = (αx)ᵀ Z̄
  accumulate(Q_bar, transposed(x), times(beta_bar, false, x * K));    // Q̄ = xᵀ β̄ xK
  accumulate(K_bar, transposed(x), times(beta_bar, true, x * Q));     // K̄ = xᵀ β̄ᵀ xQ
  const auto X_bar = times(alpha, true, Z_bar) * transposed(V) +      // x̄ = αᵀ Z̄ Vᵀ
                     times(beta_bar, false, x * K) * transposed(Q) +  //    + β̄ x KQᵀ
                     times(beta_bar, true, x * Q) * transposed(K);    //    + β̄ᵀ x QKᵀ

  SelfAttention gradient;
  CHECK(difference(layer.value_and_pullback(x).pullback(Z_bar, gradient), X_bar) < 1e-13);
  CHECK(difference(weight<"K">(gradient), K_bar) < 1e-13);
  CHECK(difference(weight<"Q">(gradient), Q_bar) < 1e-13);
  CHECK(difference(weight<"V">(gradient), V_bar) < 1e-13);
}

TEST_CASE("no published number is left out") { CHECK(numbers.unread() == std::vector<std::string>{"gradient errors"}); }

TEST_CASE("control: one digit changed is seen") {
  auto published = numbers.published<M>("self-attention");
  published(1, 2) += 0.001;
  CHECK(difference(numbers.layer<SelfAttention>()(x), published) > three_decimals);
  CHECK(Numbers{GOLDENS}.unread().size() > 1);
}
