// SPDX-License-Identifier: MIT
// What many example programs include of others: compiled once for each optimisation. CLI11 is not among it: GCC 12 gave every
// file that was compiled with it 106 KB of its code, which own_layer.cpp, for one, never calls.
#include <nlohmann/json.hpp>

#include <tlm/matrix/matrix.hpp>
