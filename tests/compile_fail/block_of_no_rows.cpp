// SPDX-License-Identifier: MIT
/// Says: a block has at least one row
/// Names: HeadMatrix
#include <tlm/attention/head_matrix.hpp>
#include <tlm/attention/mask.hpp>

#ifdef WRONG
constexpr std::size_t block = 0;
#else
constexpr std::size_t block = 1;
#endif

std::size_t visible(const tlm::HeadMatrix<tlm::Causal, float, block>& A) { return A.visible(0); }
