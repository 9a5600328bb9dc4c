// SPDX-License-Identifier: MIT
/// Says: tlm needs BLAS
#ifdef WRONG
#define XTENSOR_USE_FLENS_BLAS
#endif
#include <tlm/matrix/product.hpp>

auto product(const tlm::Matrix<tlm::n, 4>& X, const tlm::Matrix<4, 4>& W) { return X * W; }
