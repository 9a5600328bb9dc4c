// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string_view>

#include <tlm/base/refuse.hpp>
#include <tlm/matrix/matrix.hpp>

namespace tlm {

/// Throws std::out_of_range for a token of x that is not from the vocabulary {0, …, vocab_size − 1}. The sentence has its
/// sequence and its position there, from 1. The position counts `skipped` tokens of each sequence that are not in x.
/// `role` names what the tokens are for.
inline void require_in_vocabulary(const Tokens& x, std::size_t vocab_size, std::string_view role = "read",
                                  std::size_t skipped = 0) {
  const Sequences& sequences = x.sequences();
  for (std::size_t s = 0; s < sequences.count(); ++s)
    for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i)
      if (const Token token = x(i, 0); token < 0 || std::size_t(token) >= vocab_size)
        refuse<std::out_of_range>({"token ", token, ", ", role, " at position ", i - sequences.begin(s) + skipped + 1,
                                   " of sequence ", s + 1, ", is not in the vocabulary: tokens are 0 to ",
                                   vocab_size - 1});
}

}  // namespace tlm
