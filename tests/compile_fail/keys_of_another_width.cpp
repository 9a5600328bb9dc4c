// SPDX-License-Identifier: MIT
/// Says: a query is multiplied by a key: Q and K have as many columns, of the same kind of numbers
/// Names: HaveScores
/// Within: 6
#include <tlm/attention/heads.hpp>
#include <tlm/layers/affine.hpp>

#ifdef WRONG
using Q = tlm::Times<"W_Q", 8, 8>;
using K = tlm::Times<"W_K", 8, 4>;
using V = tlm::Times<"W_V", 8, 6>;
#else
using Q = tlm::Times<"W_Q", 8, 8>;
using K = tlm::Times<"W_K", 8, 8>;
using V = tlm::Times<"W_V", 8, 6>;
#endif

const tlm::Heads<2, tlm::Causal, Q, K, V> H;
