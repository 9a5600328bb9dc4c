// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tlm/algebra/environment.hpp>
#include <tlm/layers/softmax.hpp>
#include <tlm/matrix/refuse.hpp>
#include <tlm/matrix/vocabulary.hpp>
#include <tlm/training/batch.hpp>
#include <tlm/training/objective.hpp>

/// The loss function. (Article, "Evaluation"; The Formulated Transformer, "Forward pass"; the NumPy notebook.)
namespace tlm {

/// LogSoftmax(x) = x − log Σ_j exp(x_j), for each row x. The greatest entry is subtracted first, which changes nothing
/// but keeps exp from overflowing.
template <std::size_t cols, class Real>
Matrix<n, cols, Real> log_softmax(Matrix<n, cols, Real> X) {
  for (std::size_t i = 0; i < X.rows(); ++i) {
    auto x = X.row(i);
    const Real greatest = max_of(x);
    x = x - (greatest + log(sum_of(xt::exp(x - greatest))));
  }
  return X;
}

/// Σω, of the tokens that a model should say.
template <class Real>
Real sum_of(const Matrix<n, 1, Real>& omega) {
  return sum_of(omega.entries());
}

/// A loss with its gradient by the model's scores.
template <std::size_t cols, class Real>
struct CrossEntropy {
  Real value;
  Matrix<n, cols, Real> Z_bar;
};

/// Σ_k ω_k·CrossEntropy(q_k, softmax(Z_k)) / c = −Σ_k ω_k·(Σ_j q_kj y_kj) / c with y_k = LogSoftmax(Z)_k, where q_k is the
/// distribution that is wanted instead of token x_k: OneHot(x_k), or a smoothed one (objective.hpp). Writing
/// y_kj = z_kj − log Σ_i exp(z_ki), and as Σ_j q_kj = 1,
///
///   ∂(Σ_i q_ki y_ki)/∂z_kj = q_kj − softmax(Z_k)_j,   hence   z̄_kj = ω_k/c (softmax(Z_k)_j − q_kj).
///
/// (The Formulated Transformer, "Cross Entropy".) The tokens are from {0, …, cols − 1}. Throws std::invalid_argument unless
/// there is one with a weight for each row of Z.
template <std::size_t cols, class Real, class Distribution = OneHot>
CrossEntropy<cols, Real> cross_entropy(Matrix<n, cols, Real> Z, const Tokens& x, const Matrix<n, 1, Real>& omega,
                                       const Real& c, const Distribution& q = {}) {
  require_same_sequences("what is to be said", x.sequences(), "the scores of the model", Z.sequences());
  require_same_sequences("what is to be said", x.sequences(), "the loss weights", omega.sequences());
  CrossEntropy<cols, Real> result{Real(0), log_softmax(std::move(Z))};
  Matrix<n, cols, Real>& Y = result.Z_bar;
  for (std::size_t k = 0; k < Y.rows(); ++k) {
    const auto x_k = std::size_t(x(k, 0));
    const Real share = omega(k, 0) / c;
    auto y = Y.row(k), z_bar = y;  // the same entries
    result.value -= share * q.mean(y, x_k);
    z_bar = share * xt::exp(y);
    q.subtract(share, z_bar, x_k);
  }
  return result;
}

/// Throws std::invalid_argument if the weights of a batch sum to 0, unless they are those of a part.
template <class Objective, class Real>
void require_a_weight(const Real& sum) {
  if (!Objective::of_a_part && sum == Real(0))
    refuse<std::invalid_argument>({"the loss weights of a batch sum to 0: there is nothing to average"});
}

/// Refuses what a model cannot be taught to say: throws std::out_of_range for a token that is not in the vocabulary, and
/// std::invalid_argument for a weight that is not from [0, 1] and for weights that sum to 0, unless they are those of a
/// part.
template <std::size_t vocab_size, class Objective, class Domain, class Real>
void require_valid(const Lesson<Domain, Real>& lesson) {
  require_in_vocabulary(lesson.said, vocab_size, "to be said", lesson.skipped);
  const Sequences& sequences = lesson.omega.sequences();
  if constexpr (std::is_floating_point_v<Real>)
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i)
        if (const Real omega = lesson.omega(i, 0); !(omega >= Real(0) && omega <= Real(1)))
          refuse<std::invalid_argument>({"the loss weight of token ", i - sequences.begin(s) + lesson.skipped + 1,
                                         " of sequence ", s + 1, " is ", omega, ", which is not from [0, 1]"});
  require_a_weight<Objective>(sum_of(lesson.omega));
}

/// The numbers that a model computes with.
template <class T>
using RealOf = typename CodomainOf<T>::Real;

/// What lessons a kind of batch gives to a model that computes with `Real`.
template <class BatchOf, class Real>
struct LessonsOf {
  using type = decltype(lesson<Real>(std::declval<const BatchOf&>()));
  static constexpr bool same_numbers = true;
};
template <class Other, class Real>
struct LessonsOf<Batch<Other>, Real> {
  using type = Lesson<Tokens, Other>;
  static constexpr bool same_numbers = std::is_same_v<Other, Real>;
};

template <class BatchOf, class Real>
struct LessonsOf<Disturbed<BatchOf>, Real> : LessonsOf<BatchOf, Real> {};

/// The condition under which a model can learn from a kind of batch. A failure shows both.
template <class T, class BatchOf>
struct CanLearnFrom {
  using Lessons = LessonsOf<BatchOf, RealOf<T>>;
  static constexpr bool reads = std::is_same_v<DomainOf<T>, decltype(Lessons::type::read)>;
  static constexpr bool is_layer = Layer<T>, looks_back = !is_layer || autoregressive<T>;
  static constexpr bool fits = !is_layer || !looks_back || reads, same_numbers = !fits || Lessons::same_numbers;
  static constexpr bool value = is_layer && looks_back && fits && same_numbers;
  static_assert(looks_back, "the loss reads T(X|n) for T(X)|n, which needs a model that is autoregressive by type");
  static_assert(
      fits, "a model of sequences learns from a Batch, an encoder-decoder from Translations: this is for the other");
  static_assert(
      same_numbers,
      "the loss weights of a Batch are the numbers that the model computes with: a model in double learns from a "
      "Batch<double>");
};

/// read(), the model's reading of a lesson: of sequences it reads each behind the token that starts.
template <class Domain, class Real, class Read>
auto as_given(const Lesson<Domain, Real>&, const Read& read) {
  if constexpr (std::is_same_v<Domain, Tokens>)
    return behind_a_start(read);
  else
    return read();
}

/// −Σω_ji·y_ji / c over all tokens of a batch, where y_ji is the log probability that T gives to token x_ji after (start,
/// x_j1, …, x_j,i−1): y_ji = Y_j[i] at x_ji, with Y_j = LogSoftmax(T(start, x_j1, …, x_jn)|n); of an encoder–decoder, to
/// token y_i after its source and (y_1, …, y_{i−1}). The objective makes c of Σω: Mean, Sum or PartOf a larger batch; by one
/// that is Smoothed, y_ji is Y_j[i] in the mean over all tokens, by the distribution that it wants. If T ends with a Softmax,
/// y is the logarithm of what it gives, computed from its scores. Of a Disturbed batch it is the loss of T(·; noise).
///
/// One sequence with all weights 1 gives the loss of a single sequence, −(1/n)Σy_k. Non-negative. Throws what lesson,
/// require_valid, the objective and the model throw.
template <class T, class BatchOf, class Objective = Mean>
RealOf<T> loss(const T& model, const BatchOf& batch, const Objective& objective = {}) {
  static_assert(IsLayer<T>::value);
  if constexpr (CanLearnFrom<T, BatchOf>::value) {
    auto todays = lesson<RealOf<T>>(batch);
    require_valid<T::codomain::cols, Objective>(todays);
    const auto q = wanted_distribution(objective);
    const auto environment = environment_of(batch);
    auto Z = as_given(todays, [&] {
      return std::apply([&](const auto&... entry) { return scores(model)(std::move(todays.read), entry...); },
                        environment);
    });
    return cross_entropy(std::move(Z), todays.said, todays.omega, objective(sum_of(todays.omega)), q).value;
  } else {
    return {};
  }
}

/// The same number; adds its gradient in the weight space to `gradient`. Throws like loss; the gradient then is as it was.
/// That of a model whose weights were never initialized is 0 and moves nothing: require_initialized (train.hpp) refuses it.
template <class T, class BatchOf, class Objective = Mean>
RealOf<T> loss_and_gradient(const T& model, const BatchOf& batch, T& gradient, const Objective& objective = {}) {
  static_assert(IsLayer<T>::value);
  if constexpr (CanLearnFrom<T, BatchOf>::value) {
    auto todays = lesson<RealOf<T>>(batch);
    require_valid<T::codomain::cols, Objective>(todays);
    const auto q = wanted_distribution(objective);
    auto environment = environment_of(batch);
    auto Z = as_given(todays, [&] {
      return std::apply(
          [&](const auto&... entry) { return scores(model).value_and_pullback(std::move(todays.read), entry...); },
          environment);
    });
    auto loss = cross_entropy(std::move(Z.value), todays.said, todays.omega, objective(sum_of(todays.omega)), q);
    // By noise nothing is differentiated: what stands for its gradient is not written to.
    std::apply([&](auto&... entry) { Z.pullback(std::move(loss.Z_bar), scores(gradient), entry...); }, environment);
    return loss.value;
  } else {
    return {};
  }
}

/// c of a batch that is given in parts: Σω of all of them first, and the objective makes c of it. Throws what lesson throws,
/// and std::invalid_argument for a batch without parts, or one whose weights sum to 0 unless it is itself a part.
template <class Real, class BatchOf, class Objective>
Real sum_of_weights(const InParts<BatchOf>& batch, const Objective&) {
  if (batch.parts.empty())
    refuse<std::invalid_argument>({"a batch in parts needs at least one part; this one has none"});
  Real sum(0);
  for (const BatchOf& part : batch.parts) sum += sum_of(lesson<Real>(part).omega);
  require_a_weight<Objective>(sum);
  return sum;
}

/// The loss of a batch that is given in parts, as if they were one: −Σωy / c, where Σω and Σωy are those of all parts, each of
/// which is computed on its own. The mean over held-out data of any size is so the mean over all its tokens, and not of the
/// parts' means.
template <class T, class BatchOf, class Objective = Mean>
RealOf<T> loss(const T& model, const InParts<BatchOf>& batch, const Objective& objective = {}) {
  static_assert(IsLayer<T>::value);
  RealOf<T> sum(0);
  if constexpr (CanLearnFrom<T, BatchOf>::value) {
    const auto part = part_of(objective, sum_of_weights<RealOf<T>>(batch, objective));
    for (const BatchOf& each : batch.parts) sum += loss(model, each, part);
  }
  return sum;
}

/// The same number; adds its gradient in the weight space to `gradient`, part by part. Throws like loss; the gradient then
/// may have those of some parts.
template <class T, class BatchOf, class Objective = Mean>
RealOf<T> loss_and_gradient(const T& model, const InParts<BatchOf>& batch, T& gradient,
                            const Objective& objective = {}) {
  static_assert(IsLayer<T>::value);
  RealOf<T> sum(0);
  if constexpr (CanLearnFrom<T, BatchOf>::value) {
    const auto part = part_of(objective, sum_of_weights<RealOf<T>>(batch, objective));
    for (const BatchOf& each : batch.parts) sum += loss_and_gradient(model, each, gradient, part);
  }
  return sum;
}

}  // namespace tlm
