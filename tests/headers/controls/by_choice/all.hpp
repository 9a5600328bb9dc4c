// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/storage/chosen.hpp>
