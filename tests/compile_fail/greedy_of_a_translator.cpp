/// Says: greedy continues a sequence of tokens, translate answers a source
#include <tlm/decoding/greedy.hpp>
#include <tlm/models/numpy_transformer.hpp>
#include <tlm/models/transformer_lm.hpp>

#ifdef WRONG
using Model = tlm::numpy::Transformer<tlm::numpy::Config{.src_vocab_size = 11, .tgt_vocab_size = 11}>;
#else
using Model = tlm::TransformerLM<tlm::Config{.vocab_size = 11}>;
#endif

auto said(const Model& model) { return tlm::greedy(model, {1, 2}, 7); }
