// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/tlm.hpp>

/// Attention whose mask is a number that is added to the scores, and a game that only a model that sees the future can
/// win.
namespace finite_mask {

using namespace tlm;

/// A mask as it is often written: all keys are there, and `minus` is subtracted from the scores of those after the
/// query.
template <long minus>
struct FiniteMask {
  using declared = is::Positional;
  static constexpr std::string_view symbol = "mask";
  template <class Row>
  static void add(std::size_t, std::size_t i, Row s) {
    for (std::size_t j = i + 1; j < s.size(); ++j) s[j] = s[j] - typename Row::value_type(minus);
  }
  /// It has no weights, and a constant has the derivative 0.
  static void pull_back(std::size_t, std::size_t, const auto&, FiniteMask&) {}
  static constexpr void weights(auto&&, auto&) {}
};

inline constexpr std::size_t tokens = 4, length = 4, d = 8;

/// Φ ∘ Res(attention) ∘ PE ∘ Em, with one head and a mask of either kind.
template <class Mask, class Bias = NoBias>
using Guesser = Composition<FinalLayer<d, tokens>,
                            Res<Attention<1, Mask, Times<"W_Q", d, d>, Times<"W_K", d, d>, Times<"W_V", d, d>, Bias>>,
                            PositionalEncoding<length, d>, Embedding<tokens, d>>;
/// The keys after the query are not there.
using Structural = Guesser<Causal>;
/// The keys after the query are there, with smaller scores.
template <long minus>
using Finite = Guesser<Unmasked, FiniteMask<minus>>;

/// How well a model has learned to guess: the mean loss of the last 100 steps, and how much its first row changes with
/// the tokens after it.
struct Learned {
  double loss, leak;
};

/// What a model has learned that was trained to predict the next token at each token: the best of four runs, with the
/// seeds 1 to 4. (In some runs attention does not learn anything, and in which depends on how products round.) All
/// tokens are drawn at random, so without the future there is nothing to learn, and the least expected loss is log 4.
/// `scale` multiplies the initial weights of queries and keys.
template <class Model>
Learned best_guess(float scale);

}  // namespace finite_mask
