// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <tlm/base/generator.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/matrix/matrix.hpp>

/// Choices of the next token by the scores of all tokens: choose(scores, count) → Token. Every choice refuses scores
/// that are not finite.
namespace tlm {

namespace detail {

/// Throws std::invalid_argument for scores that are infinite or not numbers. `what` names the action that needs finite
/// ones.
template <class Real>
void require_finite(const Real* scores, std::size_t count, const char* what) {
  for (std::size_t j = 0; j < count; ++j)
    if (!std::isfinite(scores[j]))
      refuse<std::invalid_argument>({"the score of token ", j, " is ", scores[j], ": ", what, " by finite scores"});
}

}  // namespace detail

/// Chooses the token with the maximum score; of several, the lowest token.
struct Greedy {
  /// Throws std::invalid_argument for scores that are infinite or not numbers.
  template <class Real>
  Token operator()(const Real* scores, std::size_t count) const {
    detail::require_finite(scores, count, "the maximum is taken");
    return Token(std::max_element(scores, scores + count) - scores);
  }
};

/// Draws token j with the probability q_j, where q is proportional to
///
///   p^{1/τ}, hence to exp(score/τ), for the tokens that are kept, and 0 for all others.
///
/// τ is the temperature. At τ = 1, q is p = softmax(scores) (The Formulated Transformer, "Prediction: y_{m+1} ~
/// Y_{m,:}"). For τ → 0 all probability goes to the maximum score; if only one token has it, that is Greedy's choice.
/// (The Wolfram article, "sample a token y from q ∝ p^{1/τ}"; its program takes the maximum.) Top-k keeps the k likeliest
/// tokens. Top-p then keeps the fewest likeliest of these that together have at least top_p, by the probabilities that
/// they then have. Ties go to the lower token. By default both keep all tokens.
struct Sampled {
  Generator& generator;
  double temperature = 1;                                       ///< τ > 0
  std::size_t top_k = std::numeric_limits<std::size_t>::max();  ///< k ≥ 1; all if there are fewer.
  double top_p = 1;                                             ///< From (0, 1]

  /// Throws std::invalid_argument for a temperature that is not finite or not above 0, for a top_k or top_p out of its
  /// range, and for scores that are infinite or not numbers.
  template <class Real>
  Token operator()(const Real* scores, std::size_t count) const {
    if (!(temperature > 0 && std::isfinite(temperature)))
      refuse<std::invalid_argument>(
          {"the temperature is ", temperature, ": it must be a finite number greater than 0"});
    if (top_k == 0) refuse<std::invalid_argument>({"top_k is 0: at least 1 token must be kept"});
    if (!(top_p > 0 && top_p <= 1))
      refuse<std::invalid_argument>({"top_p is ", top_p, ": it must be greater than 0 and at most 1"});
    detail::require_finite(scores, count, "tokens are drawn");
    const double greatest = double(*std::max_element(scores, scores + count));
    std::vector<double> p(count);
    for (std::size_t j = 0; j < count; ++j) p[j] = std::exp((double(scores[j]) - greatest) / temperature);

    std::vector<std::size_t> kept(count);
    std::iota(kept.begin(), kept.end(), std::size_t(0));
    const auto sum_of_kept = [&] {
      return std::accumulate(kept.begin(), kept.end(), 0.0, [&](double sum, std::size_t j) { return sum + p[j]; });
    };
    if (top_k < count || top_p < 1) {
      std::stable_sort(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
      kept.resize(std::min(top_k, count));
      if (top_p < 1) {
        const double enough = top_p * sum_of_kept();
        std::size_t fewest = 0;
        for (double sum = 0; sum < enough; ++fewest) sum += p[kept[fewest]];
        kept.resize(fewest);
      }
      std::sort(kept.begin(), kept.end());
    }
    double remaining = generator.uniform() * sum_of_kept();
    auto token = kept.begin();
    while (token + 1 != kept.end() && (remaining -= p[*token]) >= 0) ++token;
    return Token(*token);
  }
};

}  // namespace tlm
