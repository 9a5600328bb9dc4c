#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/environment.hpp>
#include <tlm/training/generator.hpp>

/// Decoding: what a model says, token by token.
namespace tlm {

/// The condition under which a model can be decoded token by token. A failure shows the model.
template <class T>
struct CanExtend {
  static constexpr bool value = autoregressive<T>;
  static_assert(value, "decoding extends what was computed, which needs an autoregressive model");
};

/// Chooses the token with the greatest entry of a row, the lowest of them if there are several.
struct Greatest {
  template <class Real>
  Token operator()(const Real* row, std::size_t count) const {
    return Token(std::max_element(row, row + count) - row);
  }
};

/// Chooses a token with the probabilities in a row. (The Formulated Transformer, "Prediction: y_{m+1} ~ Y_{m,:}".)
struct Sampled {
  Generator& generator;

  /// Throws std::invalid_argument unless the entries are non-negative and sum to 1 within 1e-3.
  template <class Real>
  Token operator()(const Real* row, std::size_t count) const {
    double sum = 0;
    for (std::size_t j = 0; j < count; ++j) {
      if (!(row[j] >= Real(0))) throw std::invalid_argument("a probability is " + std::to_string(row[j]) + ", not ≥ 0");
      sum += double(row[j]);
    }
    if (!(std::abs(sum - 1) <= 1e-3))
      throw std::invalid_argument("the probabilities of the next token sum to " + std::to_string(sum) + ", not to 1");
    double remaining = generator.uniform() * sum;
    std::size_t token = 0;
    while (token + 1 < count && (remaining -= double(row[token])) >= 0) ++token;
    return Token(token);
  }
};

/// Continues `said` by what the model says, until it says `end` or `said` has max_len tokens.
///
///   read(state, tokens) → T(said): the rows for these tokens, which follow those read before.
///
/// Each token is chosen from the last row; the model reads every token once.
template <class State, class Read, class Choice>
void continue_saying(std::vector<Token>& said, std::size_t max_len, Token end, const Read& read, const Choice& choose) {
  State state;
  std::vector<Token> unread = said;
  while (said.size() < max_len) {
    const auto Y = read(state, Tokens{unread});
    const Token token = choose(&Y(Y.rows() - 1, 0), decltype(Y)::cols);
    said.push_back(token);
    if (token == end) break;
    unread = {token};
  }
}

}  // namespace tlm
