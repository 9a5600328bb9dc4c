// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <tlm/base/refuse.hpp>
#include <tlm/decoding/decode.hpp>
#include <tlm/training/loss.hpp>

namespace tlm {

/// How wide a beam is, and how it compares texts of different lengths. (The defaults are those of Attention Is All You Need,
/// section 6.1.)
struct Beam {
  std::size_t width = 4;  ///< ≥ 1
  double alpha = 0.6;     ///< α ≥ 0

  /// log p / ((5 + l)/6)^α of a text whose l generated tokens have the probability p. (Wu et al., 2016, equation 14.)
  /// With α = 0 it is log p, which favours shorter texts.
  double rank(double log_p, std::size_t l) const { return log_p / std::pow((5 + double(l)) / 6, alpha); }
};

/// A text that a beam search has found: the tokens as decode would return them, the logarithm of the probability of
/// what was generated, and the rank. A larger rank is better.
struct Found {
  std::vector<Token> text;
  double log_p, rank;
};

/// Texts that a model may generate, the best first: as many as the beam is wide, or fewer if there are no more.
///
/// log p of a text is Σ_i log P(y_i | what is given, y_1, …, y_{i−1}), over the tokens that are generated. The beam
/// keeps the beginnings with i tokens that have the largest log p, as many as it has room for. A beginning ends with
/// the end token or with max_len tokens; then it leaves the beam, which becomes narrower by one. Ties go to the one
/// whose own beginning came first, then to the larger score, then to the lower token. So a beam of width 1 is greedy. A
/// beam with room for all beginnings finds the text with the largest rank.
///
/// A beginning is computed once: its state is copied for each continuation. Throws what decode throws. Throws
/// std::invalid_argument for a width of 0, for an α that is negative or not finite, and for scores that are infinite or
/// not numbers.
template <class T>
std::vector<Found> beam_search(const T& model, const std::vector<Token>& given, const GenerationLimits& limits,
                               const Beam& beam = {}) {
  std::vector<Found> found;
  if constexpr (detail::CanDecode<T>::value) {
    if (beam.width == 0) refuse<std::invalid_argument>({"the width of a beam is 0: at least 1 text must have room"});
    if (!(beam.alpha >= 0 && std::isfinite(beam.alpha)))
      refuse<std::invalid_argument>({"alpha of a beam is ", beam.alpha, ": it must be a finite number from 0 on"});
    struct Beginning {
      Generation<T> generation;  // one
      double log_p;
    };
    // −log p, the number of the beginning, −score and the token: those that the beam keeps come first.
    using Continuation = std::tuple<double, std::size_t, double, Token>;
    std::vector<Beginning> beginnings{{Generation<T>{model, {given}, limits}, 0}};
    for (std::size_t said = 0; !beginnings.empty(); ++said) {
      std::vector<Beginning> open;
      for (Beginning& beginning : beginnings) {
        if (beginning.generation.ended())
          found.push_back({beginning.generation.text(0), beginning.log_p, beam.rank(beginning.log_p, said)});
        else
          open.push_back(std::move(beginning));
      }
      std::vector<Continuation> continuations;
      for (std::size_t b = 0; b < open.size(); ++b) {
        const auto Z = open[b].generation.next_scores();
        detail::require_finite(Z.data(), T::codomain::cols, "texts are compared");
        const auto Y = log_softmax(Z);
        for (std::size_t j = 0; j < T::codomain::cols; ++j)
          continuations.emplace_back(-(open[b].log_p + double(Y(0, j))), b, -double(Z(0, j)), Token(j));
      }
      const std::size_t room = std::min(beam.width - found.size(), continuations.size());
      std::partial_sort(continuations.begin(), continuations.begin() + std::ptrdiff_t(room), continuations.end());
      beginnings.clear();
      for (std::size_t c = 0; c < room; ++c) {
        const auto& [minus_log_p, beginning, minus_score, token] = continuations[c];
        beginnings.push_back({open[beginning].generation, -minus_log_p});
        beginnings.back().generation.append(0, token);
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.rank > b.rank; });
  }
  return found;
}

}  // namespace tlm
