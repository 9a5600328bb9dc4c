// SPDX-License-Identifier: MIT
// What many cases include, and most of what compiling one takes: compiled once by each compiler. GCC instantiates again in
// each case what the functions of all of tlm call, which takes longer than reading the rest of what a case includes.
#ifdef __clang__
#include <tlm/checking/check.hpp>
#include <tlm/checking/in_memory.hpp>
#include <tlm/claims/derivation.hpp>
#include <tlm/tlm.hpp>
#else
#include <tlm/matrix/product.hpp>
#endif
