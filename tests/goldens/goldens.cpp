// SPDX-License-Identifier: MIT
// Every number that the NumPy notebook prints for its layers, computed from its inputs at full precision (it prints 3
// decimals). Then its identities, and its closed-form cotangents beside the library's pullbacks.

#include <doctest/doctest.h>

#include <cmath>

#include <examples/attention/notebook.hpp>
#include <tlm/algebra/parameters.hpp>
#include <tlm/matrix/rearranged.hpp>

#include "../support.hpp"

using namespace notebook;
using tlm::Matrix, tlm::sequence, tlm::part, tlm::concat_sequences, tlm::weight;
using tlm::tests::distance, tlm::tests::table, reference::product, reference::Table;

namespace {

const Numbers numbers{GOLDENS};

template <std::size_t cols>
double from_published(const std::string& name, const tlm::Matrix<n, cols, double>& ours) {
  return distance(ours, numbers.published<cols>(name));
}

constexpr double three_decimals = 5.1e-4;

/// A weight of a layer, for the plain loops.
template <tlm::Symbol path>
Table plain(const auto& layer) {
  return table(weight<path>(layer));
}

/// α = softmax(x Q Kᵀ xᵀ / √M), by plain loops.
Table scores(const Table& X, const Table& Q, const Table& K) {
  return reference::softmax(reference::scores(product(X, Q), product(X, K)));
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
  const Table X = table(x), alpha = scores(X, plain<"Q">(layer), plain<"K">(layer));
  CHECK(distance(product(product(alpha, X), plain<"V">(layer)), table(layer(x))) < 1e-14);
}

TEST_CASE("the closed-form cotangents of x, K, Q and V are those of our pullbacks") {
  const auto layer = numbers.layer<SelfAttention>();
  const Matrix<n, M, double> Z_bar{0.5, -1, 2, 1, 0.25, -0.75};
  const Table K = plain<"K">(layer), Q = plain<"Q">(layer), V = plain<"V">(layer), X = table(x), Z = table(Z_bar),
              xK = product(X, K), xQ = product(X, Q), xV = product(X, V), alpha = scores(X, Q, K);
  const auto T = [](const Table& A) { return reference::transposed(A); };

  // ᾱ = Z̄ (xV)ᵀ, and β̄ = softmax_backward(ᾱ)/√M.
  const Table alpha_bar = product(Z, T(xV));
  Table beta_bar(2, 2);
  for (std::size_t i = 1; i <= 2; ++i)
    for (std::size_t j = 1; j <= 2; ++j)
      beta_bar(i, j) = alpha(i, j) * (alpha_bar(i, j) - alpha(i, 1) * alpha_bar(i, 1) - alpha(i, 2) * alpha_bar(i, 2)) /
                       std::sqrt(double(M));

  const Table V_bar = product(T(product(alpha, X)), Z);                                         // V̄ = (αx)ᵀ Z̄
  const Table Q_bar = product(T(X), product(beta_bar, xK));                                     // Q̄ = xᵀ β̄ xK
  const Table K_bar = product(T(X), product(T(beta_bar), xQ));                                  // K̄ = xᵀ β̄ᵀ xQ
  const Table X_bar = reference::sum(product(product(T(alpha), Z), T(V)),                       // x̄ = αᵀ Z̄ Vᵀ
                                     reference::sum(product(product(beta_bar, xK), T(Q)),       //    + β̄ x KQᵀ
                                                    product(product(T(beta_bar), xQ), T(K))));  //    + β̄ᵀ x QKᵀ

  SelfAttention gradient;
  CHECK(distance(table(layer.value_and_pullback(x).pullback(Z_bar, gradient)), X_bar) < 1e-13);
  CHECK(distance(plain<"K">(gradient), K_bar) < 1e-13);
  CHECK(distance(plain<"Q">(gradient), Q_bar) < 1e-13);
  CHECK(distance(plain<"V">(gradient), V_bar) < 1e-13);
}

TEST_CASE("no published number is left out") { CHECK(numbers.unread() == std::vector<std::string>{"gradient errors"}); }

TEST_CASE("control: one digit changed is seen") {
  auto published = numbers.published<M>("self-attention");
  published(1, 2) += 0.001;
  CHECK(distance(numbers.layer<SelfAttention>()(x), published) > three_decimals);
  CHECK(Numbers{GOLDENS}.unread().size() > 1);
}
