// SPDX-License-Identifier: MIT
// What most tests include, and most of what reading a small one takes: compiled once. (That a header of tlm includes what it
// needs is seen where every header is compiled alone.)
#include <doctest/doctest.h>

#include <tlm/all.hpp>
#include <tlm/checking/check.hpp>
#include <tlm/checking/in_memory.hpp>
#include <tlm/derivation/derivation.hpp>
