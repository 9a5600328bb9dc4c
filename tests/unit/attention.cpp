// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "../shapes.hpp"

/// A kernel on its own, and the place that scores have for a bias.
namespace tlm::tests::in_attention {

namespace {

using reference::Table;

/// Attention with a bias b_{h, i−j}, that of the list.
using Biased = proofs::BiasedH<double>;
using Bias = proofs::RelativeBias<n_heads, max_len, double>;

/// A bias that depends on n: its layer must not be called autoregressive.
struct FromTheRight : Bias {
  using declared = is::Unrestricted;
};
using BiasedFromTheRight =
    Attention<n_heads, Causal, Times<"W_Q", d_model, d_model, double>, Times<"W_K", d_model, d_model, double>,
              Times<"W_V", d_model, d_model, double>, FromTheRight>;

/// A_h(X) of one sequence, as a table of zeros above the diagonal, by the plain definition.
Table expected_kernel(const reference::Weights& w, std::size_t head, const Table& X) {
  const std::size_t d_head = d_model / n_heads, left = head * d_head + 1;
  const Table Q = reference::product(X, reference::columns(w.at("W_Q"), left, d_head)),
              K = reference::product(X, reference::columns(w.at("W_K"), left, d_head));
  Table scores = reference::scores(Q, K);
  for (std::size_t i = 1; i <= X.rows; ++i)
    for (std::size_t j = 1; j <= i; ++j) scores(i, j) += w.at("b.b")(head + 1, std::min(i - j, max_len - 1) + 1);
  return reference::softmax(reference::masked(scores));
}

}  // namespace

TEST_CASE("a bias is added to the scores before the softmax, by position, in each head") {
  Generator generator{1};
  const Biased layer = random_layer<Biased>(generator);
  const auto X = random_rows<Biased::domain>(Sequences::of_lengths({3, 1, 9}), generator);
  const auto [Y, A] = layer.value_and_weights(X);
  for (std::size_t s = 0; s < 3; ++s) {
    const Table X_s = table(sequence(X, s));
    for (std::size_t head = 0; head < n_heads; ++head) {
      CAPTURE(s);
      CAPTURE(head);
      const auto A_h = expected_kernel(weights_of(layer), head, X_s);
      for (std::size_t i = 1; i <= X_s.rows; ++i)
        for (std::size_t j = 1; j <= i; ++j) {
          CAPTURE(i);
          CAPTURE(j);
          CHECK(A(s, head)(i - 1, j - 1) == doctest::Approx(A_h(i, j)).epsilon(1e-12));
        }
      const std::size_t d_head = d_model / n_heads, left = head * d_head + 1;
      const auto V = reference::columns(reference::product(X_s, weights_of(layer).at("W_V")), left, d_head);
      CHECK(distance(reference::columns(table(sequence(Y, s)), left, d_head), reference::product(A_h, V)) <= 1e-12);
    }
  }
}

TEST_CASE("the closed-form cotangents of x, K, Q and V are those of our pullbacks") {
  // The NumPy notebook's, of self-attention z = softmax(x Q Kᵀ xᵀ/√M) x V.
  constexpr std::size_t D = 4, M = 3;
  using SelfAttention =
      Attention<1, Unmasked, Times<"Q", D, M, double>, Times<"K", D, M, double>, Times<"V", D, M, double>>;
  Generator generator{2};
  const auto layer = random_layer<SelfAttention>(generator);
  const auto x = random_rows<Matrix<n, D, double>>(Sequences{2}, generator);
  const auto z_bar = random_rows<Matrix<n, M, double>>(Sequences{2}, generator);
  const auto w = weights_of(layer);
  const auto product = [](const Table& A, const Table& B) { return reference::product(A, B); };
  const auto T = [](const Table& A) { return reference::transposed(A); };
  const Table K = w.at("K"), Q = w.at("Q"), V = w.at("V"), X = table(x), Z = table(z_bar), xK = product(X, K),
              xQ = product(X, Q), xV = product(X, V), alpha = reference::softmax(reference::scores(xQ, xK));

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
  CHECK(distance(table(layer.value_and_pullback(x).pullback(z_bar, gradient)), X_bar) < 1e-13);
  CHECK(distance(weights_of(gradient).at("K"), K_bar) < 1e-13);
  CHECK(distance(weights_of(gradient).at("Q"), Q_bar) < 1e-13);
  CHECK(distance(weights_of(gradient).at("V"), V_bar) < 1e-13);
}

TEST_CASE("the weights of attention are drawn in the order Q, K, the bias, V") {
  CHECK(not_drawn_in_this_order<Biased>({"W_Q", "W_K", "b.b", "W_V"}) == "");
}

static_assert(parameter_count<Biased> == parameter_count<BlockedHeads> + n_heads * max_len);
static_assert(autoregressive<Biased> && !rowwise<Biased>);
static_assert(!autoregressive<BiasedFromTheRight>);

}  // namespace tlm::tests::in_attention
