// SPDX-License-Identifier: MIT
/// Says: a Stack has at least one layer
#include <tlm/algebra/stack.hpp>
#include <tlm/layers/relu.hpp>

#ifdef WRONG
tlm::Stack<tlm::ReLU<3>, 0> stack;
#else
tlm::Stack<tlm::ReLU<3>, 1> stack;
#endif
