/// Says: a numpy::Config says how many tokens there are
#include <tlm/models/numpy_transformer.hpp>

#ifdef WRONG
tlm::numpy::Transformer<tlm::numpy::Config{.src_vocab_size = 11}> model;
#else
tlm::numpy::Transformer<tlm::numpy::Config{.src_vocab_size = 11, .tgt_vocab_size = 12}> model;
#endif
