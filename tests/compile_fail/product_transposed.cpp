// SPDX-License-Identifier: MIT
/// Says: in a product A×Bᵀ both matrices have as many columns
/// Names: Matrix
#include <tlm/matrix/product.hpp>

#ifdef WRONG
using W = tlm::Matrix<5, 4, double>;
#else
using W = tlm::Matrix<5, 3, double>;
#endif

auto product(const tlm::Matrix<tlm::n, 3, double>& X, const W& w) { return X * transposed(w); }
