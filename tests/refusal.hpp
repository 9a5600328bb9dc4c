// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>

namespace tlm::tests {

/// The message with which an action refuses, by an exception of this kind; nothing if it does not refuse. Any other
/// exception passes through.
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
