// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/algebra/above.hpp>
