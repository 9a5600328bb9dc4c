// SPDX-License-Identifier: MIT
#include "run.hpp"

template void run<0>(const Options& options);
