// SPDX-License-Identifier: MIT
/// Says: weights are visited together only in layers of the same type
#include <tlm/layers/affine.hpp>

tlm::Plus<"B", 3> layer;
#ifdef WRONG
tlm::Plus<"L", 3> other;
#else
tlm::Plus<"B", 3> other;
#endif

void visit() {
  tlm::for_each_weight([](const tlm::Name&, auto&, auto&) {}, layer, other);
}
