// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <tlm/algebra/diagnosis.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/matrix/vocabulary.hpp>
#include <tlm/training/loss.hpp>

/// What a model learns from: a batch of sequences with loss weights, and its loss.
namespace tlm {

/// A batch of input sequences (x_j1, …, x_jn), one under the other and of any lengths. Every token has a loss weight
/// ω_ji from [0, 1]. The start token begins every sequence, and is not among its x. (Article, "Batch evaluation with
/// loss weights", and "The essence of the loss function", where 0 starts.) x and ω are written alike, sequence by sequence:
/// Batch<>{0, {{1, 2}, {5}}, {{1, 0.5}, {1}}}. If the ω are in one row, they are Matrix<n, 1>{x.sequences(), {1, 0.5, 1}}.
template <class Real = float>
struct Batch {
  using Input = Tokens;  ///< What a model reads.

  Token start;
  Tokens x;
  Matrix<n, 1, Real> omega;

  /// How many sequences there are.
  std::size_t sequence_count() const { return x.sequences().count(); }
  /// How many tokens a model reads.
  std::size_t token_count() const { return x.rows(); }
};

/// Sequences whose tokens all have the weight 1.
template <class Real = float>
Batch<Real> unweighted(Token start, Tokens x) {
  Matrix<n, 1, Real> ones{x.sequences(), Real(1)};
  return {start, std::move(x), std::move(ones)};
}

// --- Its loss ----------------------------------------------------------------------------------------------------------

/// The type of numbers that a model computes with.
template <class T>
using RealOf = typename CodomainOf<T>::Real;

/// From a batch, the model T reads X|n and should predict x. Throws like after_start. Throws std::out_of_range for a
/// token that T has no score for. Throws std::invalid_argument for a weight that is not from [0, 1], and unless each token
/// has a weight.
template <class T, class Real>
Targets<Tokens, Real> targets_of(const Batch<Real>& batch) {
  require_same_sequences("the tokens", batch.x.sequences(), "the loss weights", batch.omega.sequences());
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

/// The condition under which a model can learn from this type of batch. A failure shows both.
template <class T, class BatchOf>
struct CanLearnFrom {
  static constexpr bool is_layer = Layer<T>, looks_back = !is_layer || autoregressive<T>;
  static constexpr bool fits = !is_layer || !looks_back || std::is_same_v<DomainOf<T>, typename BatchOf::Input>;
  static constexpr bool weighs = requires(BatchOf batch) { typename decltype(batch.omega)::Real; };
  static constexpr bool same_numbers = !fits || !weighs || requires(BatchOf batch) {
    requires std::is_same_v<typename decltype(batch.omega)::Real, RealOf<T>>;
  };
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

/// f(targets) for the targets of a batch from which T can learn; f(targets, noise) if it is read with noise (noisy.hpp).
template <class T, class BatchOf, class F>
RealOf<T> with_targets(const BatchOf& batch, const F& f) {
  if constexpr (!CanLearnFrom<T, BatchOf>::value) {
    return {};
  } else {
    const auto targets = targets_of<T>(batch);
    if constexpr (requires { batch.noise; })
      return f(targets, batch.noise);
    else
      return f(targets);
  }
}

}  // namespace detail

/// The loss of T on a batch (a Batch or Translations, perhaps Noisy), for an objective: Mean, Sum, or a Smoothed one. With
/// Mean, one sequence with all weights 1 has the loss −(1/n)Σy_k. It is non-negative. Throws what targets_of, the
/// objective and the model throw.
template <class T, class BatchOf, class Objective = Mean>
RealOf<T> loss(const T& model, const BatchOf& batch, const Objective& objective = {}) {
  return detail::with_targets<T>(
      batch, [&](const auto& targets, const auto&... noise) { return loss(model, targets, objective, noise...); });
}

/// Returns the same loss, and adds its gradient with respect to the weights to `gradient`. Throws like loss, and then
/// leaves the gradient as it was. (Initialize the weights first: require_initialized, train.hpp.)
template <class T, class BatchOf, class Objective = Mean>
RealOf<T> loss_and_gradient(const T& model, const BatchOf& batch, T& gradient, const Objective& objective = {}) {
  return detail::with_targets<T>(batch, [&](const auto& targets, const auto&... noise) {
    return loss_and_gradient(model, targets, gradient, objective, noise...);
  });
}

/// auto [loss, gradient] = value_and_gradient(model, batch), for any batch. Throws like loss_and_gradient.
/// (loss_and_gradient reuses the storage of a gradient.)
template <class T, class BatchOf, class Objective = Mean>
std::pair<RealOf<T>, T> value_and_gradient(const T& model, const BatchOf& batch, const Objective& objective = {}) {
  T gradient{};
  const auto value = loss_and_gradient(model, batch, gradient, objective);
  return {value, std::move(gradient)};
}

}  // namespace tlm
