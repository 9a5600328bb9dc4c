// SPDX-License-Identifier: MIT
/// Says: in a product A×B both matrices are of the same kind of numbers: both of float, or both of double
/// Names: Matrix
#include <tlm/matrix/product.hpp>

#ifdef WRONG
using W = tlm::Matrix<3, 5>;
#else
using W = tlm::Matrix<3, 5, double>;
#endif

auto product(const tlm::Matrix<tlm::n, 3, double>& X, const W& w) { return X * w; }
