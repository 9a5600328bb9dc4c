// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/base/language.hpp>
#include <tlm/matrix/below.hpp>
