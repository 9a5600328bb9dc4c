// SPDX-License-Identifier: MIT
// The control of this suite: what does not hold is seen.
#include <tlm/layers/positional_encoding.hpp>

static_assert(tlm::rowwise<tlm::PositionalEncoding<7, 8>>);
