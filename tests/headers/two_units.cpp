// SPDX-License-Identifier: MIT
#include <tlm/tlm.hpp>

std::size_t weights_in_the_other_unit();

// This unit and the other one include all of the library; together they make a program.
int main() {
  return tlm::parameter_count<tlm::TransformerLM<tlm::Config{.vocab_size = 11}>> == weights_in_the_other_unit() ? 0 : 1;
}
