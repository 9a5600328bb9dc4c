// SPDX-License-Identifier: MIT
#include <tlm/tlm.hpp>

std::size_t weights_in_the_other_unit() {
  return tlm::parameter_count<tlm::TransformerLM<tlm::Config{.vocab_size = 11}>>;
}
