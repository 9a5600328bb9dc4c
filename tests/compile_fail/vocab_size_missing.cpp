/// Says: a Config says how many tokens there are
#include <tlm/models/transformer_lm.hpp>

#ifdef WRONG
tlm::TransformerLM<tlm::Config{.d_model = 8}> model;
#else
tlm::TransformerLM<tlm::Config{.vocab_size = 11, .d_model = 8}> model;
#endif
