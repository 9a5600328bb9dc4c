// SPDX-License-Identifier: MIT
#pragma once

#include <tlm/base/language.hpp>

/// What stands in for what is missing, so that the one sentence about it is the compiler's only error.
namespace tlm {

/// Whatever one takes it for.
struct Anything {
  Anything() = default;
  template <class T>
  Anything(T&&) {}
  template <class T>
  operator T() const;
  Anything operator()(auto&&...) const { return {}; }
  friend Anything operator+(Anything, Anything) { return {}; }
  friend Anything operator+(Anything, const auto&) { return {}; }
  friend Anything operator+(const auto&, Anything) { return {}; }
};

/// Stands where a T is missing: there is no such function.
template <class T>
T stand_in();

}  // namespace tlm
