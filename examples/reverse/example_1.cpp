// SPDX-License-Identifier: MIT
#include "run.hpp"

template void run<1>(const Options& options);
