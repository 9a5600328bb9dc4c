// SPDX-License-Identifier: MIT
// What nearly every case includes, and most of what compiling it takes: compiled once by each compiler.
#include <tlm/matrix/product.hpp>
