// SPDX-License-Identifier: MIT
#pragma once

// Every header of the library has this one before its own first line of code. Where the language is older, a file is
// asked for that there is not: nothing else ends GCC and Clang alike at once, and its name is then all that they say. After
// an #error they would go on, and say a thousand lines more.
#if __cplusplus < 202002L
#include "tlm needs C++20: compile with -std=c++20 or later"
#endif
