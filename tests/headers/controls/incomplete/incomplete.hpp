// SPDX-License-Identifier: MIT
#pragma once

/// Uses what it does not include.
inline std::size_t size() { return 1; }
