// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/all.hpp>

#include "../support.hpp"

/// The encoder–decoders under test, in double: the NumPy notebook's toy, and a small formulated and a small Wolfram one.
namespace tlm::tests {

inline constexpr numpy::Config toy{.src_vocab_size = 10, .tgt_vocab_size = 10, .max_len = 9};  // D 4, M 3, h 5, 2+2
using NumpyToy = numpy::Transformer<toy, double>;

inline constexpr formulated::Config small_formulated{
    .s = 7, .d_model = 6, .d_ff = 10, .d_k = 3, .d_v = 2, .h = 4, .N = 2, .max_len = 9};
using SmallFormulated = formulated::Transformer<small_formulated, double>;

inline constexpr wolfram::Config small_wolfram{
    .src_vocab_size = 8, .tgt_vocab_size = 7, .d = 6, .heads = 3, .blocks = 2, .max_len = 9};
using SmallWolfram = wolfram::Transformer<small_wolfram, double>;

/// Sources and targets of unequal lengths, of a single token among them.
inline Tokens sources() { return {{1, 2, 3}, {4}, {3, 6, 0, 1, 2}}; }
inline Tokens targets() { return {{1, 3}, {0, 2, 2, 3}, {5}}; }

}  // namespace tlm::tests
