// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/language.hpp>
