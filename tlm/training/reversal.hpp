// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <vector>

#include <tlm/base/generator.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/training/batch.hpp>

namespace tlm {

/// The notebook's task: to reverse the order of the tokens of a sequence.
///
/// Tokens t_1, …, t_k from {1, …, n_tokens}, min_length ≤ k ≤ max_length, become t_1 … t_k 0 t_k … t_1 0. Token 0 ends
/// the question, ends the answer, and starts the sequence. Only the answer has loss weight 1.
struct Reversal {
  /// The token that starts, separates and ends.
  static constexpr Token separator = 0;

  int n_tokens, min_length, max_length;

  /// Throws std::invalid_argument unless n_tokens ≥ 1 and 1 ≤ min_length ≤ max_length.
  Reversal(int tokens, int shortest, int longest) : n_tokens{tokens}, min_length{shortest}, max_length{longest} {
    if (tokens < 1) refuse<std::invalid_argument>({"the task needs at least 1 token, not ", tokens});
    if (shortest < 1 || longest < shortest)
      refuse<std::invalid_argument>(
          {"the task needs lengths 1 ≤ min_length ≤ max_length, not ", shortest, " and ", longest});
  }

  /// Room for a token 0 and the longest sequence.
  std::size_t max_len() const { return 2 * std::size_t(max_length) + 3; }

  /// t_1 … t_k 0: the question, which a model continues.
  static std::vector<Token> question(const std::vector<Token>& tokens) {
    std::vector<Token> x{tokens};
    x.push_back(separator);
    return x;
  }

  /// t_1 … t_k 0 t_k … t_1 0: the question with the right answer.
  static std::vector<Token> solved(const std::vector<Token>& tokens) {
    std::vector<Token> x = question(tokens);
    x.insert(x.end(), tokens.rbegin(), tokens.rend());
    x.push_back(separator);
    return x;
  }

  /// batch_size random sequences of one random length, as the notebook draws them.
  template <class Real = float>
  Batch<Real> batch(std::size_t batch_size, Generator& generator) const {
    const auto k = std::size_t(generator.integer(min_length, max_length));
    std::vector<std::vector<Token>> x;
    std::vector<Token> tokens(k);
    for (std::size_t s = 0; s < batch_size; ++s) {
      for (Token& token : tokens) token = generator.integer(1, n_tokens);
      x.push_back(solved(tokens));
    }
    auto batch = unweighted<Real>(separator, Tokens{x});
    for (std::size_t i = 0; i < batch.x.rows(); ++i) batch.omega(i, 0) = Real(int(i % (2 * k + 2) > k));
    return batch;
  }

  /// All Σ_k n_tokens^k token sequences t_1 … t_k of the task: shorter ones first, then in lexicographic order.
  std::vector<std::vector<Token>> all() const {
    std::vector<std::vector<Token>> sequences(1);       // of no tokens
    for (std::size_t s = 0; s < sequences.size(); ++s)  // what is appended is reached later
      for (Token token = 1; token <= n_tokens && sequences[s].size() < std::size_t(max_length); ++token) {
        sequences.push_back(sequences[s]);
        sequences.back().push_back(token);
      }
    std::erase_if(sequences, [&](const auto& tokens) { return tokens.size() < std::size_t(min_length); });
    return sequences;
  }
};

}  // namespace tlm
