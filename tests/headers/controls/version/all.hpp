// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/base/version.hpp>
#include <tlm/matrix/below.hpp>
