// SPDX-License-Identifier: MIT
// A decoder block is a composition: DB = Res(FF) ∘ Res(CA ∘ N_ca). Its formula and its weights come from its type.

#include <iostream>

#include <tlm/derivation/notation.hpp>
#include <tlm/layers/decoder_block.hpp>
#include <tlm/matrix/print.hpp>
#include <tlm/training/initialization.hpp>

int main() {
  using DB = tlm::DecoderBlock<4, 8, 2>;  // d_model = 4, d_ff = 8, two heads
  static_assert(tlm::autoregressive<DB>);
  std::cout << tlm::equation<DB>() << "\nDB has " << tlm::parameter_count<DB> << " parameters:\n";

  tlm::Generator generator{1};
  DB block;
  for (const auto& weight : tlm::parameters(block))
    std::cout << "  " << weight.path << ", " << weight.rows << " × " << weight.cols << '\n';

  // Without weights FF(X) and CA(X) are 0, and what is left of X + F(X) is X.
  const tlm::Matrix<tlm::n, 4> X{tlm::Sequences{2}, {1, 2, 3, 4, 5, 6, 7, 8}};
  std::cout << "X =\n" << X << "\nDB(X), all weights 0 =\n" << block(X) << '\n';
  tlm::initialize_glorot(block, generator);
  std::cout << "DB(X), initialized =\n" << block(X) << std::endl;
  return std::cout ? 0 : 1;  // 1 if there was no room for what it prints
}
