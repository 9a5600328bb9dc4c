// SPDX-License-Identifier: MIT
/// Says: a Matrix has at least one column
#include <tlm/matrix/matrix.hpp>

#ifdef WRONG
tlm::Matrix<tlm::n, 0> X;
#else
tlm::Matrix<tlm::n, 1> X;
#endif
