// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include <tlm/matrix/matrix.hpp>

namespace tlm {

/// Throws std::out_of_range for a token of x that is not from the vocabulary {0, …, vocab_size − 1}, and tells its place:
/// the sequence and the position in it, from 1, behind the `skipped` tokens of each sequence that are not in x. `role` is
/// what the tokens are for.
inline void require_in_vocabulary(const Tokens& x, std::size_t vocab_size, std::string_view role = "read",
                                  std::size_t skipped = 0) {
  const Sequences& sequences = x.sequences();
  for (std::size_t s = 0; s < sequences.count(); ++s)
    for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i)
      if (const Token token = x(i, 0); token < 0 || std::size_t(token) >= vocab_size)
        throw std::out_of_range("token " + std::to_string(token) + ", " + std::string(role) + " at position " +
                                std::to_string(i - sequences.begin(s) + skipped + 1) + " of sequence " +
                                std::to_string(s + 1) + ", is not in the vocabulary: tokens are 0 to " +
                                std::to_string(vocab_size - 1));
}

}  // namespace tlm
