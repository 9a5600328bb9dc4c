// SPDX-License-Identifier: MIT
// What every test includes of others, and most of what reading a small one takes: compiled once.
#include <doctest/doctest.h>

#include <tlm/matrix/xtensor.hpp>
