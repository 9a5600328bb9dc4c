// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

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

/// Trains a model to predict the next token at each token. All tokens are drawn at random, so without the future there
/// is nothing to learn, and the least expected loss is log 4. `scale` multiplies the initial weights of queries and
/// keys.
template <class Model>
Learned learn_to_guess(float scale, std::uint64_t seed) {
  constexpr std::size_t steps = 1500;
  Generator generator{seed};
  auto model = std::make_unique<Model>();
  initialize_glorot(*model, generator);
  for (const auto& weight : parameters(*model))
    if (weight.path == "W_Q" || weight.path == "W_K")
      for (float& w : weight) w *= scale;
  Adam<Model> adam{0.1};
  Learned learned{0, 0};
  for (std::size_t step = 1; step <= steps; ++step) {
    constexpr std::size_t batch_size = 32;
    std::vector<std::vector<Token>> read(batch_size), said;
    for (auto& x : read) {
      for (std::size_t i = 0; i < length; ++i) x.push_back(generator.integer(0, int(tokens) - 1));
      said.push_back({x.begin() + 1, x.end()});
      said.back().push_back(0);  // nothing follows the last token: it weighs 0
    }
    const Tokens x{read}, y{said};
    Matrix<n, 1> omega{x.sequences(), 1.0f};
    for (std::size_t s = 0; s < batch_size; ++s) omega(x.sequences().end(s) - 1, 0) = 0;
    // A Batch would ask for a model that is autoregressive by type, which the finite mask is not.
    Model gradient;
    const float loss = loss_and_gradient(*model, Targets<Tokens, float>{x, y, omega}, gradient);
    adam(*model, gradient);
    if (step + 100 > steps) learned.loss += double(loss) / 100;
  }
  const auto alone = (*model)(Tokens{0});
  for (int future = 0; future < int(tokens); ++future) {
    const auto with = (*model)(Tokens{0, future, future, future});
    for (std::size_t j = 0; j < tokens; ++j)
      learned.leak = std::max(learned.leak, double(std::abs(with(0, j) - alone(0, j))));
  }
  return learned;
}

/// The best of four runs, with the seeds 1 to 4. In some runs attention does not learn anything, and in which depends
/// on how products round.
template <class Model>
Learned best_guess(float scale) {
  Learned best = learn_to_guess<Model>(scale, 1);
  for (std::uint64_t seed = 2; seed <= 4; ++seed)
    if (const Learned learned = learn_to_guess<Model>(scale, seed); learned.loss < best.loss) best = learned;
  return best;
}

}  // namespace finite_mask
