// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>

namespace tlm::tests {

/// What an action says when it refuses, by an exception of this kind; nothing if it does not refuse. Anything else that is
/// thrown passes through.
template <class Refusal = std::exception, class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Refusal& refused) {
    return refused.what();
  }
  return "";
}

}  // namespace tlm::tests
