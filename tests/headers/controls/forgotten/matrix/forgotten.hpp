// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/base/language.hpp>
