// SPDX-License-Identifier: MIT
/// Says: in a composition G∘F the codomain of F is the domain of G
/// Names: Matrix<tlm::n, 4
#include <tlm/algebra/composition.hpp>
#include <tlm/layers/affine.hpp>

#ifdef WRONG
using F = tlm::Times<"W", 3, 4>;
#else
using F = tlm::Times<"W", 3, 3>;
#endif

using Model = tlm::Composition<tlm::Plus<"B", 3>, F>;

Model model;
// What is used of it adds no error.
auto use(const tlm::Matrix<tlm::n, 3>& X) {
  return tlm::apply(model, X).rows() + tlm::differentiate(model, X).value.rows();
}
