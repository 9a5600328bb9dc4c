// SPDX-License-Identifier: MIT
// The includes of most tests, compiled once: reading them takes most of the time of compiling a small test. (Another
// test compiles every header of tlm alone, to see that it includes what it needs.)
#include <doctest/doctest.h>

#include <tlm/all.hpp>
#include <tlm/checking/check.hpp>
#include <tlm/checking/in_memory.hpp>
#include <tlm/derivation/derivation.hpp>
