// SPDX-License-Identifier: MIT
#include <tlm/layers/causal_attention.hpp>

// Of gcc's coverage: what was counted so far is forgotten, and what is counted is written.
extern "C" void __gcov_reset();
extern "C" void __gcov_dump();

// CA(X), of a program that is compiled with --coverage: reached.py lists the headers whose functions it calls.
int main() {
  const tlm::CausalAttention<4, 2> CA;
  const tlm::Matrix<tlm::n, 4> X{tlm::Sequences{3}, 1.f};
  __gcov_reset();
  const auto Y = CA(X);
  __gcov_dump();
  return Y.rows() == 3 ? 0 : 1;
}
