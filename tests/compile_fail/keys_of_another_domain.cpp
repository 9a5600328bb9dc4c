// SPDX-License-Identifier: MIT
/// Says: queries and keys are made of the same X: Q and K have the same domain
/// Names: HaveScores
/// Within: 6
#include <tlm/attention/heads.hpp>
#include <tlm/layers/affine.hpp>

#ifdef WRONG
using Q = tlm::Times<"W_Q", 8, 8>;
using K = tlm::Times<"W_K", 6, 8>;
using V = tlm::Times<"W_V", 8, 6>;
#else
using Q = tlm::Times<"W_Q", 8, 8>;
using K = tlm::Times<"W_K", 8, 8>;
using V = tlm::Times<"W_V", 8, 6>;
#endif

const tlm::Heads<2, tlm::Causal, Q, K, V> H;
