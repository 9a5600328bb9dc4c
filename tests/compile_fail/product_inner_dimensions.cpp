// SPDX-License-Identifier: MIT
/// Says: in a product A×B the matrix A has as many columns as B has rows
/// Names: Matrix
#include <tlm/matrix/product.hpp>

#ifdef WRONG
using W = tlm::Matrix<4, 5, double>;
#else
using W = tlm::Matrix<3, 5, double>;
#endif

auto product(const tlm::Matrix<tlm::n, 3, double>& X, const W& w) { return X * w; }
