// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/base/language.hpp>

// Meson and CMake default to no optimisation. The message is a note, so that it is no error with -Werror.
#if !defined(__OPTIMIZE__) && !defined(TLM_QUIET)
#pragma message("tlm: without optimisation a small model trains about 30 times as slowly: use -O2, or -DTLM_QUIET")
#endif
