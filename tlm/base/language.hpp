// SPDX-License-Identifier: MIT
#pragma once

// Every header of the library has this one before its own first line of code. Where the language is older, a file is
// asked for that there is not: nothing else ends GCC and Clang alike at once, and its name is then all that they say. After
// an #error they would go on, and say a thousand lines more.
#if __cplusplus < 202002L
#include "tlm needs C++20: compile with -std=c++20 or later"
#endif

// What is infinite or not a number is refused, in many places. By -ffinite-math-only, which is part of -ffast-math and -Ofast,
// a compiler may take all of these refusals away, and does so without a word.
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "tlm refuses infinities and NaN: compile without -ffinite-math-only, hence without -ffast-math and -Ofast"
#endif
