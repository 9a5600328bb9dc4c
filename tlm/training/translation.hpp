#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/weights.hpp>
#include <tlm/training/loss.hpp>

/// The loss of an encoder–decoder.
namespace tlm {

/// Sources x with their targets y = (y_1, …, y_m), from the start token to the end token: as many sequences of each,
/// of any lengths. A target token equal to `null` does not count.
struct Translations {
  Tokens x, y;
  Token null = -1;  ///< No token by default.
};

/// y_−m and (y_2, …, y_m): what the decoder reads of the targets, and what it should say; with weight 1 where that
/// counts and 0 where it is null.
template <class Real>
struct Shifted {
  Tokens read, said;
  Matrix<n, 1, Real> omega;
};

/// The targets without their last tokens, and without their first. Throws std::invalid_argument for no targets, a target
/// of fewer than two tokens, other than one target for each source, or if no token counts.
template <class Real>
Shifted<Real> shifted(const Translations& batch) {
  const Sequences& sequences = batch.y.sequences();
  if (sequences.count() != batch.x.sequences().count())
    throw std::invalid_argument(std::to_string(batch.x.sequences().count()) + " sources cannot have " +
                                std::to_string(sequences.count()) + " targets");
  if (sequences.count() == 0) throw std::invalid_argument("a batch needs at least one translation; this one is empty");
  std::vector<std::size_t> lengths;
  for (std::size_t s = 0; s < sequences.count(); ++s) {
    if (sequences.length(s) < 2)
      throw std::invalid_argument("target " + std::to_string(s + 1) + " has " + std::to_string(sequences.length(s)) +
                                  " tokens: a target needs a start and a token to say, 2 at least");
    lengths.push_back(sequences.length(s) - 1);
  }
  const Sequences shorter = Sequences::of_lengths(lengths);
  Shifted<Real> result{Tokens{shorter}, Tokens{shorter}, Matrix<n, 1, Real>{shorter}};
  bool counts = false;
  for (std::size_t s = 0; s < shorter.count(); ++s)
    for (std::size_t i = 0; i < lengths[s]; ++i) {
      const std::size_t from = sequences.begin(s) + i, to = shorter.begin(s) + i;
      result.read(to, 0) = batch.y(from, 0);
      result.said(to, 0) = batch.y(from + 1, 0);
      result.omega(to, 0) = Real(result.said(to, 0) != batch.null);
      counts = counts || result.said(to, 0) != batch.null;
    }
  if (!counts)
    throw std::invalid_argument("every token that the targets should say is null: there is nothing to learn");
  return result;
}

/// An encoder–decoder: scores() makes a row of scores for every token of the target.
template <class T>
concept Translator = Autoregressive<T> && requires(const T& model) {
  model.scores();
  T::loss_is_mean;
};

/// What the loss of a model makes of the cross entropies of its tokens.
template <Translator T>
inline constexpr Average average_of = T::loss_is_mean ? Average::mean : Average::sum;

/// Σ_j ω_j CrossEntropy(OneHot(y_j), Softmax(scores)_{j−1}) over all target tokens y_2, …, y_m, divided by Σω if the
/// model's loss is a mean. (The Formulated Transformer, "Forward pass"; the NumPy notebook, over non-null targets.)
/// Throws like shifted; std::out_of_range for a token outside its vocabulary; whatever the model throws.
template <Translator T>
typename T::Real loss(const T& model, const Translations& batch) {
  const auto y = shifted<typename T::Real>(batch);
  require_valid<T::codomain::cols>(Batch<typename T::Real>{y.said, y.omega});
  return cross_entropy(model.scores()({batch.x, y.read}), y.said, y.omega, average_of<T>).value;
}

/// The same number; adds its gradient in the weight space to `gradient`. Throws like loss.
template <Translator T>
typename T::Real loss_and_gradient(const T& model, const Translations& batch, T& gradient) {
  const auto y = shifted<typename T::Real>(batch);
  require_valid<T::codomain::cols>(Batch<typename T::Real>{y.said, y.omega});
  auto [Z, pullback] = model.scores().value_and_pullback({batch.x, y.read});
  auto [loss, dZ] = cross_entropy(std::move(Z), y.said, y.omega, average_of<T>);
  pullback(std::move(dZ), gradient.scores());
  return loss;
}

}  // namespace tlm
