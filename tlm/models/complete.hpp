// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <type_traits>

#include <tlm/base/refuse.hpp>

namespace tlm::detail {

/// The condition under which a Config is complete. A failure shows it.
template <auto config, bool is_complete>
struct IsComplete : Condition {
  static_assert(is_complete, "a Config gives the size of each vocabulary, and no number in it is 0");
};

/// The parameters of a model, if they are complete. A wrong Config is reported here, before any layer is made of it.
///
/// A Config is an aggregate of std::size_t, and of enumerations over std::size_t that count from 1. So no member of it may be
/// 0, whatever members it has.
template <auto config>
struct Complete {
  using Config = std::remove_const_t<decltype(config)>;

  /// The Config with 1 in the place of every 0, so that a wrong one causes no errors elsewhere.
  static constexpr Config value = [] {
    auto numbers = std::bit_cast<std::array<std::size_t, sizeof(Config) / sizeof(std::size_t)>>(config);
    for (std::size_t& number : numbers) number += number == 0;
    return std::bit_cast<Config>(numbers);
  }();
  static_assert(IsComplete<config, value == config>::value);
};

}  // namespace tlm::detail
