/// Says: a formulated::Config says how many tokens there are
#include <tlm/models/formulated_transformer.hpp>

#ifdef WRONG
tlm::formulated::Transformer<tlm::formulated::Config{.d_model = 8}> model;
#else
tlm::formulated::Transformer<tlm::formulated::Config{.s = 11, .d_model = 8}> model;
#endif
