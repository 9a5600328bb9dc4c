// SPDX-License-Identifier: MIT
// The version in the headers is that of the project.
#include <tlm/tlm.hpp>

static_assert(TLM_VERSION == MESON_VERSION);
