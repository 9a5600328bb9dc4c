// SPDX-License-Identifier: MIT
/// Says: numbers are stored as float, double, std::int64_t, std::uint64_t or std::uint8_t: these are others
/// Names: long double
#include <tlm/layers/affine.hpp>
#include <tlm/storage/tensors.hpp>

#ifdef WRONG
using Real = long double;
#else
using Real = double;
#endif

void list(std::vector<tlm::storage::Tensor>& tensors, const tlm::Plus<"B", 3, Real>& layer) {
  tlm::storage::add_weights(tensors, layer);
}
