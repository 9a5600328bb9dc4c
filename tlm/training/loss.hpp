// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <tlm/algebra/diagnosis.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/matrix/vocabulary.hpp>
#include <tlm/numbers/rows.hpp>
#include <tlm/training/batch.hpp>
#include <tlm/training/objective.hpp>

/// The loss function. (Article, "Evaluation"; The Formulated Transformer, "Forward pass"; the NumPy notebook.)
///
/// Let T be autoregressive, X = (start, x_1, …, x_n) and Y = LogSoftmax(T(X)|n). Row k of Y depends on x_1, …, x_{k−1} only.
/// Its entry at token x_k, y_k, is the log probability that T gives to x_k after them. The loss of a batch is
///
///   −Σ_ji ω_ji·y_ji / Σ_ji ω_ji   over all tokens i of all sequences j.
namespace tlm {

namespace detail {

/// X|n where X = (start, x_1, …, x_n): the start token, and then every sequence without its last token.
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

}  // namespace detail

/// LogSoftmax(z) = z − log Σ_j exp(z_j), for each row z. For every m, log Σ_j exp(z_j) = m + log Σ_j exp(z_j − m). With the
/// maximum as m no exp overflows, and the sum is at least 1.
template <std::size_t cols, class Real>
Matrix<n, cols, Real> log_softmax(Matrix<n, cols, Real> Z) {
  for (std::size_t k = 0; k < Z.rows(); ++k) {
    auto z = Z.row(k);
    const Real m = max_of(z);
    z = z - (m + log(sum_of(xt::exp(z - m))));
  }
  return Z;
}

/// −Σ_k ω_k·y_k / c, where y_k is the entry of row k of Y = LogSoftmax(Z) at token x_k. y_k is Σ_j q_kj·y_kj for the
/// distribution q_k = OneHot(x_k); another distribution is possible. −y_k is CrossEntropy(q_k, softmax(Z_k)) of The
/// Formulated Transformer. Throws std::invalid_argument unless each row of Y has a token with a weight.
template <std::size_t cols, class Real, class Distribution = OneHot>
Real cross_entropy(const Matrix<n, cols, Real>& Y, const Tokens& x, const Matrix<n, 1, Real>& omega, const Real& c,
                   const Distribution& q = {}) {
  require_same_sequences("the tokens to be predicted", x.sequences(), "the scores of the model", Y.sequences());
  require_same_sequences("the tokens to be predicted", x.sequences(), "the loss weights", omega.sequences());
  Real loss(0);
  for (std::size_t k = 0; k < Y.rows(); ++k) loss -= omega(k, 0) / c * q.mean(Y.row(k), std::size_t(x(k, 0)));
  return loss;
}

/// Σω.
template <class Real>
Real sum_of(const Matrix<n, 1, Real>& omega) {
  return sum_of(omega.entries());
}

/// F of a model Softmax∘F, otherwise the model itself. It computes the scores Z, and softmax(Z) are the probabilities.
template <class T>
auto& scores(T& model) {
  if constexpr (requires { without_softmax(model); })
    return without_softmax(model);
  else
    return model;
}

/// What a model should predict: after row k of X, the token x_k, which counts with the loss weight ω_k.
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
  const Real c = objective.divisor(sum_of(omega));         // Σω
  const auto Y = log_softmax(scores(model)(X, noise...));  // LogSoftmax(T(X)|n)
  return cross_entropy(Y, x, omega, c, objective.q());     // −Σωy/c
}

// --- Its gradient ------------------------------------------------------------------------------------------------------

/// Z̄ = ∂loss/∂Z of the cross-entropy, given Y = LogSoftmax(Z). As y_kj = z_kj − log Σ_i exp(z_ki) and Σ_j q_kj = 1,
///
///   ∂(Σ_i q_ki·y_ki)/∂z_kj = q_kj − softmax(Z_k)_j,   hence   z̄_kj = ω_k/c·(softmax(Z_k)_j − q_kj),   softmax(Z_k) = exp(Y_k).
///
/// (The Formulated Transformer, "Cross Entropy".)
template <std::size_t cols, class Real, class Distribution = OneHot>
Matrix<n, cols, Real> cross_entropy_gradient(Matrix<n, cols, Real> Y, const Tokens& x, const Matrix<n, 1, Real>& omega,
                                             const Real& c, const Distribution& q = {}) {
  for (std::size_t k = 0; k < Y.rows(); ++k) {
    const Real share = omega(k, 0) / c;
    auto y = Y.row(k), z_bar = y;  // the same entries
    z_bar = share * xt::exp(y);
    q.subtract(share, z_bar, std::size_t(x(k, 0)));
  }
  return Y;
}

/// Returns the same loss, and adds its gradient with respect to the weights to `gradient`: Z̄, pulled back through T.
template <class T, class Input, class Real, class Objective = Mean, class... Noise>
Real loss_and_gradient(const T& model, const Targets<Input, Real>& targets, T& gradient,
                       const Objective& objective = {}, Noise... noise) {
  const auto& [X, x, omega] = targets;
  const Real c = objective.divisor(sum_of(omega));
  const auto q = objective.q();
  auto [Z, pullback] = scores(model).value_and_pullback(X, noise...);
  auto Y = log_softmax(std::move(Z));
  const Real loss = cross_entropy(Y, x, omega, c, q);
  pullback(cross_entropy_gradient(std::move(Y), x, omega, c, q), scores(gradient), noise...);
  return loss;
}

// --- Of a batch --------------------------------------------------------------------------------------------------------

/// The type of numbers that a model computes with.
template <class T>
using RealOf = typename CodomainOf<T>::Real;

/// From a batch, the model T reads X|n and should predict x. Throws like after_start. Throws std::out_of_range for a
/// token that T does not know. Throws std::invalid_argument for a weight that is not from [0, 1], and unless each token
/// has a weight.
template <class T, class Real>
Targets<Tokens, Real> targets_of(const Batch<Real>& batch) {
  batch.require_weights();
  Tokens X = detail::after_start(batch.start, batch.x);
  require_in_vocabulary(batch.x, T::codomain::cols, "to be predicted");
  const Sequences& sequences = batch.omega.sequences();
  if constexpr (std::is_floating_point_v<Real>)
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i)
        if (const Real omega = batch.omega(i, 0); !(omega >= Real(0) && omega <= Real(1)))
          refuse<std::invalid_argument>({"the loss weight of token ", i - sequences.begin(s) + 1, " of sequence ",
                                         s + 1, " is ", omega, ", which is not from [0, 1]"});
  return {std::move(X), batch.x, batch.omega};
}

namespace detail {

/// True if the loss weights of this type of batch, if it has any, have this type of numbers.
template <class BatchOf, class Real>
inline constexpr bool weighs_in = true;
/// A Batch has weights.
template <class Other, class Real>
inline constexpr bool weighs_in<Batch<Other>, Real> = std::is_same_v<Other, Real>;

/// The condition under which a model can learn from this type of batch. A failure shows both.
template <class T, class BatchOf>
struct CanLearnFrom {
  static constexpr bool is_layer = Layer<T>, looks_back = !is_layer || autoregressive<T>;
  static constexpr bool fits = !is_layer || !looks_back || std::is_same_v<DomainOf<T>, typename BatchOf::Input>;
  static constexpr bool same_numbers = !fits || weighs_in<BatchOf, RealOf<T>>;
  static constexpr bool value = is_layer && looks_back && fits && same_numbers;
  static_assert(IsLayer<T>::value);
  static_assert(looks_back, "the loss reads T(X|n) for T(X)|n, which needs a model that is autoregressive by type");
  static_assert(
      fits,
      "a model of sequences learns from a Batch, an encoder-decoder from Translations: this batch is for the other");
  static_assert(
      same_numbers,
      "the loss weights of a Batch are the numbers that the model computes with: a model in double learns from a "
      "Batch<double>");
};

/// A loss with its gradient with respect to the weights.
template <class T>
struct ValueAndGradient {
  RealOf<T> value;
  T gradient{};
};

/// f(targets) for the targets of a batch. The error for a token that T does not know has its place in the batch.
template <class T, class BatchOf, class F>
RealOf<T> with_targets(const BatchOf& batch, const F& f) {
  const auto targets = targets_of<T>(batch);
  if constexpr (std::is_same_v<typename BatchOf::Input, Tokens>)
    return after_a_start([&] { return f(targets); });
  else
    return f(targets);
}

}  // namespace detail

/// The loss of T on a batch (a Batch or Translations), for an objective: Mean, Sum, or a Smoothed one. One sequence
/// with all weights 1 gives the loss of a single sequence, −(1/n)Σy_k. It is non-negative. Throws what targets_of, the
/// objective and the model throw.
template <class T, class BatchOf, class Objective = Mean, class... Noise>
RealOf<T> loss(const T& model, const BatchOf& batch, const Objective& objective = {}, const Noise&... noise) {
  if constexpr (detail::CanLearnFrom<T, BatchOf>::value)
    return detail::with_targets<T>(batch,
                                   [&](const auto& targets) { return loss(model, targets, objective, noise...); });
  else
    return {};
}

/// Returns the same loss, and adds its gradient with respect to the weights to `gradient`. Throws like loss, and then
/// leaves the gradient as it was. The gradient of a model whose weights were never initialized is 0 and moves nothing:
/// require_initialized (train.hpp) refuses it.
template <class T, class BatchOf, class Objective = Mean, class... Noise>
RealOf<T> loss_and_gradient(const T& model, const BatchOf& batch, T& gradient, const Objective& objective = {},
                            const Noise&... noise) {
  if constexpr (detail::CanLearnFrom<T, BatchOf>::value)
    return detail::with_targets<T>(
        batch, [&](const auto& targets) { return loss_and_gradient(model, targets, gradient, objective, noise...); });
  else
    return {};
}

/// auto [loss, gradient] = value_and_gradient(model, batch), for any batch. Throws like loss_and_gradient.
/// (loss_and_gradient reuses the storage of a gradient.)
template <class T, class BatchOf, class Objective = Mean>
detail::ValueAndGradient<T> value_and_gradient(const T& model, const BatchOf& batch, const Objective& objective = {}) {
  detail::ValueAndGradient<T> result{};
  result.value = loss_and_gradient(model, batch, result.gradient, objective);
  return result;
}

}  // namespace tlm
