/// Says: a numpy::Config says how many tokens there are, and no number in it is 0
#include <tlm/models/numpy_transformer.hpp>

#ifdef WRONG
constexpr std::size_t h = 0;
#else
constexpr std::size_t h = 1;
#endif

tlm::numpy::Transformer<tlm::numpy::Config{.src_vocab_size = 11, .tgt_vocab_size = 12, .h = h}> model;
