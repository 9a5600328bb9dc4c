// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/language.hpp>
#include <tlm/matrix/below.hpp>
