// SPDX-License-Identifier: MIT
/// Says: in a product A(X)×B(X) both take the same X: A and B have the same domain
/// Names: TakeTheSame
#include <tlm/attention/heads.hpp>
#include <tlm/layers/affine.hpp>

#ifdef WRONG
using Q = tlm::Times<"W_Q", 8, 8>;
using K = tlm::Times<"W_K", 8, 8>;
using V = tlm::Times<"W_V", 6, 6>;
#else
using Q = tlm::Times<"W_Q", 8, 8>;
using K = tlm::Times<"W_K", 8, 8>;
using V = tlm::Times<"W_V", 8, 6>;
#endif

const tlm::Heads<2, tlm::Causal, Q, K, V> H;
