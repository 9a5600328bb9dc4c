// SPDX-License-Identifier: MIT
/// Says: tlm needs C++20: compile with -std=c++20 or later
/// Standard: c++17
#include <tlm/random/generator.hpp>
