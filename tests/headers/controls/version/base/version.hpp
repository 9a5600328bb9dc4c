// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/matrix/below.hpp>
