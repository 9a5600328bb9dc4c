// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/base/language.hpp>

// The program chooses the optimisation level. No dependency sets it, and Meson and CMake default to none. The message
// is a note, so that it is not an error with -Werror. TLM_QUIET silences it.
#if !defined(__OPTIMIZE__) && !defined(TLM_QUIET)
#pragma message("tlm: without optimisation a small model trains about 30 times as slowly: use -O3, or -DTLM_QUIET")
#endif
