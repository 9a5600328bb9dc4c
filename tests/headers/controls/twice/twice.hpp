// SPDX-License-Identifier: MIT
#pragma once
/// Of two files that include it the linker finds two.
int size() { return 1; }
