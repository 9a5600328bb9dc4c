// SPDX-License-Identifier: MIT
// What every example program includes of others: compiled once for each optimisation.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <tlm/matrix/xtensor.hpp>
