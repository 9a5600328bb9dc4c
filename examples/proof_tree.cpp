// How "T_LM is autoregressive" is derived: by types, from named rules, down to what the leaves declare.

#include <iostream>

#include <tlm/models/proof_tree.hpp>
#include <tlm/models/transformer_lm.hpp>

int main() { std::cout << tlm::proof_tree<tlm::TransformerLM<tlm::Config{.vocab_size = 11}>>(); }
