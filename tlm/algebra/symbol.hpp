// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/base/language.hpp>

namespace tlm {

/// A name of the book as a template argument: Times<"W_Q", …>.
template <std::size_t size>
struct Symbol {
  char text[size]{};

  consteval Symbol(const char (&literal)[size]) {
    for (std::size_t c = 0; c < size; ++c) text[c] = literal[c];
  }

  constexpr operator std::string_view() const { return {text, size - 1}; }
};

}  // namespace tlm
