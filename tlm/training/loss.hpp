#pragma once

#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tlm/algebra/layer.hpp>
#include <tlm/algebra/weights.hpp>

/// The loss function. (Article, "Evaluation".)
namespace tlm {

/// A batch of input sequences (x_j1, …, x_jn), one under the other and of any lengths, and for every token a loss
/// weight ω_ji from [0, 1].
template <class Real = float>
struct Batch {
  Tokens x;
  Matrix<n, 1, Real> omega;
};

/// A single sequence, all of whose tokens count alike.
template <class Real = float>
Batch<Real> unweighted(Tokens x) {
  Matrix<n, 1, Real> ones{x.sequences(), Real(1)};
  return {std::move(x), std::move(ones)};
}

/// X|n where X = (0, x_1, …, x_n): every sequence behind a token 0, without its last token.
///
/// The loss looks at T(X)|n only. As T is autoregressive that is T(X|n), so that row n + 1 need not be computed.
/// Throws std::invalid_argument for an empty sequence, or no sequence at all.
inline Tokens preceded_by_0(const Tokens& x) {
  const Sequences& sequences = x.sequences();
  if (sequences.count() == 0) throw std::invalid_argument("a batch needs at least one sequence; this one is empty");
  Tokens X{sequences};
  for (std::size_t s = 0; s < sequences.count(); ++s) {
    if (sequences.length(s) == 0)
      throw std::invalid_argument("sequence " + std::to_string(s + 1) + " of the batch is empty: a loss needs a token");
    X(sequences.begin(s), 0) = 0;
    for (std::size_t i = sequences.begin(s) + 1; i < sequences.end(s); ++i) X(i, 0) = x(i - 1, 0);
  }
  return X;
}

/// LogSoftmax(x) = x − log Σ_j exp(x_j), for each row x. The greatest entry is subtracted first, which changes nothing
/// but keeps exp from overflowing.
template <std::size_t cols, class Real>
Matrix<n, cols, Real> log_softmax(Matrix<n, cols, Real> X) {
  for (std::size_t i = 0; i < X.rows(); ++i) {
    const Real greatest = maximum(&X(i, 0), cols);
    Real sum(0);
    for (std::size_t j = 0; j < cols; ++j) sum += exp(X(i, j) - greatest);
    const Real shift = greatest + log(sum);
    for (std::size_t j = 0; j < cols; ++j) X(i, j) = X(i, j) - shift;
  }
  return X;
}

/// Refuses what is no batch: throws std::invalid_argument if weights and tokens differ in shape, if a weight is not from
/// [0, 1] or if all of them are 0, and std::out_of_range for a token that is not in the vocabulary.
template <std::size_t vocab_size, class Real>
void require_valid(const Batch<Real>& batch) {
  if (!(batch.omega.sequences() == batch.x.sequences()))
    throw std::invalid_argument(
        "the loss weights have another shape than the tokens: " + std::to_string(batch.omega.rows()) + " weights in " +
        std::to_string(batch.omega.sequences().count()) + " sequences, " + std::to_string(batch.x.rows()) +
        " tokens in " + std::to_string(batch.x.sequences().count()));
  Real sum(0);
  for (std::size_t i = 0; i < batch.x.rows(); ++i) {
    const Real omega = batch.omega(i, 0);
    if (!(omega >= Real(0) && omega <= Real(1))) {
      std::ostringstream message;
      message << "loss weight " << omega << " is not from [0, 1]";
      throw std::invalid_argument(message.str());
    }
    const Token token = batch.x(i, 0);
    if (token < 0 || std::size_t(token) >= vocab_size)
      throw std::out_of_range("token " + std::to_string(token) + " is not in the vocabulary: tokens are 0 to " +
                              std::to_string(vocab_size - 1));
    sum += omega;
  }
  if (sum == Real(0)) throw std::invalid_argument("the loss weights of a batch sum to 0: there is nothing to average");
}

/// A loss with its gradient by the model's output.
template <std::size_t cols, class Real>
struct CrossEntropy {
  Real value;
  Matrix<n, cols, Real> dZ;
};

/// What a loss makes of the cross entropies of its tokens: their weighted mean, or their weighted sum.
enum class Average { mean, sum };

/// −Σ_k ω_k y_k / c with y_k = LogSoftmax(Z)_k at token x_k, where c = Σ_k ω_k for a mean and c = 1 for a sum. Writing
/// y_k = z_{k,x_k} − log Σ_j exp(z_kj),
///
///   ∂y_k/∂z_kj = [j = x_k] − softmax(Z_k)_j,   hence   dz_kj = ω_k/c (softmax(Z_k)_j − [j = x_k]).
///
/// The tokens are from {0, …, cols − 1}, and there is one with a weight for each row of Z.
template <std::size_t cols, class Real>
CrossEntropy<cols, Real> cross_entropy(Matrix<n, cols, Real> Z, const Tokens& x, const Matrix<n, 1, Real>& omega,
                                       Average average = Average::mean) {
  const Real c = average == Average::mean ? sum_of(omega.rows(), [&](std::size_t k) { return omega(k, 0); }) : Real(1);
  CrossEntropy<cols, Real> result{Real(0), log_softmax(std::move(Z))};
  Matrix<n, cols, Real>& Y = result.dZ;
  for (std::size_t k = 0; k < Y.rows(); ++k) {
    const auto x_k = std::size_t(x(k, 0));
    const Real share = omega(k, 0) / c;
    result.value -= share * Y(k, x_k);
    for (std::size_t j = 0; j < cols; ++j) Y(k, j) = share * exp(Y(k, j));
    Y(k, x_k) -= share;
  }
  return result;
}

/// −Σω_ji·y_ji / Σω_ji, where y_ji is the log probability that T gives to token x_ji after (0, x_j1, …, x_j,i−1):
/// y_ji = Y_j[i] at x_ji, with Y_j = LogSoftmax(T(0, x_j1, …, x_jn)|n).
///
/// One sequence with all weights 1 gives the loss of a single sequence, −(1/n)Σy_k. Non-negative. Throws
/// std::invalid_argument for an empty sequence, weights of another shape than the tokens, weights outside [0, 1] or
/// summing to 0; std::out_of_range for a token outside the vocabulary; whatever T throws.
template <Autoregressive T, class Real>
Real loss(const T& model, const Batch<Real>& batch) {
  Tokens X = preceded_by_0(batch.x);
  require_valid<T::codomain::cols>(batch);
  return cross_entropy(model(std::move(X)), batch.x, batch.omega).value;
}

/// The same number; adds its gradient in the weight space to `gradient`. Throws like loss.
template <Autoregressive T, class Real>
Real loss_and_gradient(const T& model, const Batch<Real>& batch, T& gradient) {
  Tokens X = preceded_by_0(batch.x);
  require_valid<T::codomain::cols>(batch);
  auto [Z, pullback] = model.value_and_pullback(std::move(X));
  auto [loss, dZ] = cross_entropy(std::move(Z), batch.x, batch.omega);
  pullback(std::move(dZ), gradient);
  return loss;
}

}  // namespace tlm
