// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string_view>

#include <tlm/base/refuse.hpp>
#include <tlm/matrix/matrix.hpp>

namespace tlm {

/// A token that is not in the vocabulary, and its place: the position in its sequence, and the sequence, from 1.
/// Position 0 is that of a start token.
class UnknownToken : public std::out_of_range {
 public:
  [[gnu::cold]] UnknownToken(Token token, std::string_view role, std::size_t position, std::size_t sequence,
                             std::size_t vocab_size)
      : std::out_of_range{detail::sentence(
            {"token ", token, ", ",
             position == 0 ? "which starts every sequence"
                           : detail::sentence({role, " at position ", position, " of sequence ", sequence}),
             ", is not in the vocabulary: tokens are 0 to ", vocab_size - 1})},
        token_{token},
        position_{position},
        sequence_{sequence},
        vocab_size_{vocab_size} {}

  /// The same error if a start token was put before each sequence: positions count after it.
  [[gnu::cold]] UnknownToken after_a_start() const { return {token_, "read", position_ - 1, sequence_, vocab_size_}; }

 private:
  Token token_;
  std::size_t position_, sequence_, vocab_size_;
};

namespace detail {

/// Calls read(), which reads sequences that each begin with a start token. The place of an unknown token is counted
/// without the start token, as in the sequences that were given.
auto after_a_start(const auto& read) {
  try {
    return read();
  } catch (const UnknownToken& unknown) {
    throw unknown.after_a_start();
  }
}

}  // namespace detail

/// Throws UnknownToken for a token of x that is not from the vocabulary {0, …, vocab_size − 1}. The error has its
/// sequence and its position there, from 1. The position counts `skipped` tokens of each sequence that are not in x.
/// `role` names what the tokens are for.
inline void require_in_vocabulary(const Tokens& x, std::size_t vocab_size, std::string_view role = "read",
                                  std::size_t skipped = 0) {
  const Sequences& sequences = x.sequences();
  for (std::size_t s = 0; s < sequences.count(); ++s)
    for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i)
      if (const Token token = x(i, 0); token < 0 || std::size_t(token) >= vocab_size)
        throw UnknownToken{token, role, i - sequences.begin(s) + skipped + 1, s + 1, vocab_size};
}

}  // namespace tlm
