// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <tlm/matrix/matrix.hpp>
#include <tlm/random/generator.hpp>

/// Choices of the next token by the scores of all: choose(scores, count) → Token.
namespace tlm {

/// Chooses the token with the greatest score, the lowest of them if there are several.
struct Greedy {
  template <class Real>
  Token operator()(const Real* scores, std::size_t count) const {
    return Token(std::max_element(scores, scores + count) - scores);
  }
};

/// Draws token j with the probability softmax(scores/τ)_j, where τ is the temperature. (The Formulated Transformer,
/// "Prediction: y_{m+1} ~ Y_{m,:}", with τ = 1.)
struct Sampled {
  Generator& generator;
  double temperature = 1;  ///< τ > 0

  /// Throws std::invalid_argument for a temperature that is not a finite number greater than 0, and for scores that are
  /// infinite or not numbers.
  template <class Real>
  Token operator()(const Real* scores, std::size_t count) const {
    if (!(temperature > 0 && std::isfinite(temperature)))
      throw std::invalid_argument("the temperature is " + std::to_string(temperature) +
                                  ": it must be a finite number greater than 0");
    for (std::size_t j = 0; j < count; ++j)
      if (!std::isfinite(scores[j]))
        throw std::invalid_argument("the score of token " + std::to_string(j) + " is " + std::to_string(scores[j]) +
                                    ": tokens are drawn by finite scores");
    const double greatest = double(*std::max_element(scores, scores + count));
    std::vector<double> p(count);
    double sum = 0;
    for (std::size_t j = 0; j < count; ++j) sum += p[j] = std::exp((double(scores[j]) - greatest) / temperature);
    double remaining = generator.uniform() * sum;
    std::size_t token = 0;
    while (token + 1 < count && (remaining -= p[token]) >= 0) ++token;
    return Token(token);
  }
};

}  // namespace tlm
