// SPDX-License-Identifier: MIT
/// Says: this layer reads an entry of the environment that nobody provides in its shape
/// Names: FromMemory
#include <tlm/attention/heads.hpp>
#include <tlm/layers/affine.hpp>

#ifdef WRONG
using K = tlm::FromMemory<tlm::Times<"W_K", 4, 4>>;
#else
using K = tlm::FromItself<tlm::Times<"W_K", 4, 4>>;
#endif

auto keys(const K& k, const tlm::Matrix<tlm::n, 4>& X) { return k(X); }
