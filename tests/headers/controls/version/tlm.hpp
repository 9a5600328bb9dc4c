// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/matrix/below.hpp>
#include <tlm/version.hpp>
