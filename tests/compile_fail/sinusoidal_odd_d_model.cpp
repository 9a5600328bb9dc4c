// SPDX-License-Identifier: MIT
/// Says: the sinusoidal positional encoding needs an even d_model: its columns are pairs
#include <tlm/layers/positional_encoding.hpp>

#ifdef WRONG
constexpr std::size_t d_model = 5;
#else
constexpr std::size_t d_model = 6;
#endif

auto PE = tlm::PositionalEncoding<9, d_model>::sinusoidal();
