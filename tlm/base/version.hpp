// SPDX-License-Identifier: MIT
#pragma once

/// The version of the library, as 10000·major + 100·minor + patch.
#define TLM_VERSION 100
