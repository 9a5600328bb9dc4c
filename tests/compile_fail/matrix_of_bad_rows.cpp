// SPDX-License-Identifier: MIT
/// Says: the rows of a Matrix are n, a std::size_t or an int, as in Matrix<n, 3> and Matrix<2, 3>
/// Names: Matrix
#include <tlm/matrix/matrix.hpp>

#ifdef WRONG
tlm::Matrix<2u, 3> X;
#else
tlm::Matrix<2, 3> X;
#endif
tlm::Matrix<std::size_t{2}, 3> Y;

float first() { return X(0, 0) + Y(0, 0); }
