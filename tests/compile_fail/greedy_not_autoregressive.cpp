/// Says: decoding extends what was computed, which needs an autoregressive model
#include <tlm/decoding/greedy.hpp>

#include "backwards.hpp"

auto decoded(const Model& model) { return tlm::greedy(model, {1, 2}, 5); }
