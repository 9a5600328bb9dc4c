// SPDX-License-Identifier: MIT
/// Says: a causal mask compares positions of one sequence
/// Within: 6
#include <tlm/layers/multi_head.hpp>

#ifdef WRONG
using Mask = tlm::Causal;
#else
using Mask = tlm::Unmasked;
#endif

tlm::MultiHead<8, 2, 4, 4, Mask, tlm::FromMemory> layer;
