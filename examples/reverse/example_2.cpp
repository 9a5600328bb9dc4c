// SPDX-License-Identifier: MIT
#include "run.hpp"

template void run<2>(const Options& options);
