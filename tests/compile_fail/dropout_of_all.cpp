// SPDX-License-Identifier: MIT
/// Says: a Dropout drops 1 to 99 percent of the numbers
/// Names: Dropout<100
#include <tlm/layers/dropout.hpp>

#ifdef WRONG
constexpr std::size_t percent = 100;
#else
constexpr std::size_t percent = 99;
#endif

tlm::Matrix<tlm::n, 3> dropped(const tlm::Dropout<percent, 3>& layer, const tlm::Matrix<tlm::n, 3>& X) {
  return layer(X);
}
