// SPDX-License-Identifier: MIT
#pragma once

// Every header of the library includes this one before its own first line of code. For an older language it includes a
// file that does not exist. That ends GCC and Clang at once, and the name of the file is their whole message. After an
// #error they would go on, and print a thousand lines more.
#if __cplusplus < 202002L
#include "tlm needs C++20: compile with -std=c++20 or later"
#endif

// The library refuses infinities and NaN in many places. With -ffinite-math-only, which is part of -ffast-math and
// -Ofast, a compiler may silently remove all of these refusals.
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "tlm refuses infinities and NaN: compile without -ffinite-math-only, hence without -ffast-math and -Ofast"
#endif
