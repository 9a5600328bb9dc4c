// SPDX-License-Identifier: MIT
// The notebook's examples, with its models.

#include "learner.hpp"

namespace {

template <Example e>
inline constexpr page::Lesson of_the_notebook{e, ModelOf<e, tlm::Block::definition>::config};
constexpr page::Lesson lessons[] = {of_the_notebook<examples[0]>, of_the_notebook<examples[1]>,
                                    of_the_notebook<examples[2]>};

}  // namespace

/// A new model for an example, which learns by Adam or by SGD; answers with its type, and the notebook's number of steps.
extern "C" [[clang::export_name("begin")]] void begin(unsigned lesson, unsigned seed, unsigned by_sgd) {
  page::begin<lessons>(lesson, seed, by_sgd != 0);
}
