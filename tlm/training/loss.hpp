// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <tlm/base/refuse.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/matrix/vocabulary.hpp>
#include <tlm/numbers/functions.hpp>
#include <tlm/numbers/rows.hpp>
#include <tlm/training/objective.hpp>

/// The loss function. (Article, "Evaluation"; The Formulated Transformer, "Forward pass".)
///
/// Let T be autoregressive, X = (start, x_1, …, x_n) and Y = LogSoftmax(T(X)|n). (Of a model Softmax∘F, T is F here.) Row k
/// of Y depends on x_1, …, x_{k−1} only. Its entry at token x_k, y_k, is the log probability that T gives to x_k after them.
/// (The entries of a row are numbered from 0 here, so that no 1 is added to x_k.) The loss of a batch is
///
///   −Σ_ji ω_ji·y_ji / Σ_ji ω_ji   over all tokens i of all sequences j.
namespace tlm {

namespace detail {

/// X|n where X = (start, x_1, …, x_n): of each sequence the start token, and then the sequence without its last token.
///
/// The loss looks at T(X)|n only. As T is autoregressive that is T(X|n), so row n + 1 need not be computed. Throws
/// std::invalid_argument for an empty sequence, or if there is no sequence.
inline Tokens after_start(Token start, const Tokens& x) {
  const Sequences& sequences = x.sequences();
  if (sequences.count() == 0) refuse<std::invalid_argument>({"a batch needs at least one sequence; this one is empty"});
  Tokens X{sequences};
  for (std::size_t s = 0; s < sequences.count(); ++s) {
    if (sequences.length(s) == 0)
      refuse<std::invalid_argument>({"sequence ", s + 1, " of the batch is empty: a loss needs a token"});
    X(sequences.begin(s), 0) = start;
    for (std::size_t i = sequences.begin(s) + 1; i < sequences.end(s); ++i) X(i, 0) = x(i - 1, 0);
  }
  return X;
}

/// Throws std::invalid_argument unless x and ω have the sequences of Y, and std::out_of_range for a token that is not in
/// the vocabulary.
template <std::size_t cols, class Real>
void require_targets(const Matrix<n, cols, Real>& Y, const Tokens& x, const Matrix<n, 1, Real>& omega) {
  require_same_sequences("the tokens to be predicted", x.sequences(), "the scores of the model", Y.sequences());
  require_same_sequences("the tokens to be predicted", x.sequences(), "the loss weights", omega.sequences());
  require_in_vocabulary(x, cols, "to be predicted");
}

}  // namespace detail

/// LogSoftmax(z) = z − log Σ_j exp(z_j), for each row z. It is the same for z − m, with any number m. With the maximum as m
/// no exp overflows, and the sum is at least 1.
template <std::size_t cols, class Real>
Matrix<n, cols, Real> log_softmax(Matrix<n, cols, Real> Z) {
  for (std::size_t k = 0; k < Z.rows(); ++k) {
    auto z = Z.row(k);
    z = z - max_of(z);
    z = z - log(sum_of(xt::exp(z)));
  }
  return Z;
}

/// −Σ_k ω_k·y_k / c over all rows k of all sequences; c is Σω for the mean (objective.hpp). y_k is the entry of row k of Y =
/// LogSoftmax(Z) at token x_k. As a sum it is Σ_v q_kv·y_kv, where q_k = OneHot(x_k). For another distribution q_k the sum
/// takes its place. (−y_k is CrossEntropy(q_k, softmax(Z_k)) of The Formulated Transformer, "Cross Entropy".) Throws like
/// require_targets.
template <std::size_t cols, class Real, class Distribution = OneHot>
Real cross_entropy(const Matrix<n, cols, Real>& Y, const Tokens& x, const Matrix<n, 1, Real>& omega, const Real& c,
                   const Distribution& q = {}) {
  detail::require_targets(Y, x, omega);
  Real loss(0);
  for (std::size_t k = 0; k < Y.rows(); ++k) {
    const Real y = q.expectation(Y.row(k), std::size_t(x(k, 0)));
    if constexpr (std::is_floating_point_v<Real>)
      if (omega(k, 0) == Real(0) && !std::isnan(y)) continue;  // 0·(−∞) is NaN; a NaN of the scores is to be seen
    loss -= omega(k, 0) / c * y;
  }
  return loss;
}

/// Σω.
template <class Real>
Real sum_of(const Matrix<n, 1, Real>& omega) {
  return sum_of(omega.entries());
}

/// F of a model Softmax∘F (layers/softmax.hpp), otherwise the model itself. It computes the scores Z, and softmax(Z) are the
/// probabilities. (A Softmax further inside, such as the last factor of a decoder, is not seen: let such a decoder end in Z.)
template <class T>
auto& before_softmax(T& model) {
  if constexpr (requires { without_softmax(model); })
    return without_softmax(model);
  else
    return model;
}

/// After row k of X a model should predict the token x_k, which has the loss weight ω_k. For T_LM this X is the X|n above.
template <class Input, class Real>
struct Targets {
  Input X;
  Tokens x;
  Matrix<n, 1, Real> omega;
};

/// The loss of T on its targets. With noise, it is the loss of T(·; noise).
template <class T, class Input, class Real, class Objective = Mean, class... Noise>
Real loss(const T& model, const Targets<Input, Real>& targets, const Objective& objective = {}, const Noise&... noise) {
  const auto& [X, x, omega] = targets;
  const Real c = objective.divisor(sum_of(omega));                 // Σω for the mean
  const auto Y = log_softmax(before_softmax(model)(X, noise...));  // LogSoftmax(T(X)), where X may be X|n
  return cross_entropy(Y, x, omega, c, objective.q());             // −Σωy/c
}

// --- Its gradient ------------------------------------------------------------------------------------------------------

/// Z̄ = ∂loss/∂Z of the cross-entropy, given Y = LogSoftmax(Z). As y_kv = z_kv − log Σ_u exp(z_ku) and Σ_v q_kv = 1,
///
///   ∂(Σ_u q_ku·y_ku)/∂z_kv = q_kv − softmax(Z_k)_v,   hence   z̄_kv = ω_k/c·(softmax(Z_k)_v − q_kv),
///
/// where softmax(Z_k) = exp(Y_k). Throws like require_targets.
template <std::size_t cols, class Real, class Distribution = OneHot>
Matrix<n, cols, Real> cross_entropy_gradient(Matrix<n, cols, Real> Y, const Tokens& x, const Matrix<n, 1, Real>& omega,
                                             const Real& c, const Distribution& q = {}) {
  detail::require_targets(Y, x, omega);
  for (std::size_t k = 0; k < Y.rows(); ++k) {
    const Real share = omega(k, 0) / c;
    auto y = Y.row(k), z_bar = y;  // z̄ takes the place of y
    z_bar = share * xt::exp(y);
    q.subtract(share, z_bar, std::size_t(x(k, 0)));
  }
  return Y;  // now Z̄
}

/// Returns the same loss, and adds its gradient with respect to the weights to `gradient`: Z̄, pulled back through T. (A copy
/// of the noise stands where its gradient would be added up: it has none.)
template <class T, class Input, class Real, class Objective = Mean, class... Noise>
Real loss_and_gradient(const T& model, const Targets<Input, Real>& targets, T& gradient,
                       const Objective& objective = {}, Noise... noise) {
  const auto& [X, x, omega] = targets;
  const Real c = objective.divisor(sum_of(omega));
  const auto q = objective.q();
  auto [Z, pullback] = before_softmax(model).value_and_pullback(X, noise...);
  auto Y = log_softmax(std::move(Z));
  const Real loss = cross_entropy(Y, x, omega, c, q);
  pullback(cross_entropy_gradient(std::move(Y), x, omega, c, q), before_softmax(gradient), noise...);
  return loss;
}

}  // namespace tlm
