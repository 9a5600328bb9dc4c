// SPDX-License-Identifier: MIT
/// Says: what is decoded reads tokens: sequences of them, or a source and a target
/// Names: Composition
#include <tlm/algebra/composition.hpp>
#include <tlm/decoding/decode.hpp>
#include <tlm/layers/affine.hpp>
#include <tlm/layers/embedding.hpp>

#ifdef WRONG
using Model = tlm::Composition<tlm::Plus<"B", 3>, tlm::Times<"W", 3, 3>>;
#else
using Model = tlm::Composition<tlm::Plus<"B", 3>, tlm::Embedding<11, 3>>;
#endif

auto use(const Model& model) { return tlm::decode(model, {1, 2}, {.start = 0, .end = 0, .max_len = 7}); }
