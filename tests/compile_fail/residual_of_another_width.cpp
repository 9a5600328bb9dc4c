// SPDX-License-Identifier: MIT
/// Says: in a composition G∘F the codomain of F is the domain of G
/// Names: Matrix<tlm::n, 4
#include <tlm/algebra/residual.hpp>
#include <tlm/layers/affine.hpp>

#ifdef WRONG
using F = tlm::Times<"W", 3, 4>;
#else
using F = tlm::Times<"W", 3, 3>;
#endif

using Model = tlm::Res<F>;

Model model;
