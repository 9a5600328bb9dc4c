// SPDX-License-Identifier: MIT
// What the little doctest beside this file must see: a claim that fails, and one that holds.
#include <doctest/doctest.h>

TEST_CASE("1 + 1 = 2") { CHECK(1 + 1 == 2); }
TEST_CASE("1 + 1 = 3") { CHECK(1 + 1 == 3); }
