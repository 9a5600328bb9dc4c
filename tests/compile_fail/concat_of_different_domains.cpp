// SPDX-License-Identifier: MIT
/// Says: layers that are concatenated take the same X: they have the same domain
/// Names: Times
#include <tlm/algebra/concat.hpp>
#include <tlm/layers/affine.hpp>

#ifdef WRONG
using G = tlm::Times<"W_2", 4, 2>;
#else
using G = tlm::Times<"W_2", 3, 2>;
#endif

using Model = tlm::Concat<tlm::Times<"W_1", 3, 1>, G>;

Model model;
