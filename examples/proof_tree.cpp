// How "T_LM is autoregressive" is derived: by types, from named rules, down to what the leaves declare.

#include <iostream>

#include <examples/program.hpp>
#include <tlm/models/proof_tree.hpp>
#include <tlm/models/transformer_lm.hpp>

namespace {

void print() { std::cout << tlm::proof_tree<tlm::TransformerLM<tlm::Config{.vocab_size = 11}>>(); }

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"How \"T_LM is autoregressive\" is derived by types.", "proof_tree"};
  return program::main(app, argc, argv, print);
}
