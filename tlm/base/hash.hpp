// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <tlm/base/language.hpp>

namespace tlm {

/// What SplitMix64 returns in state x: one-to-one, and the same on every machine. If two numbers differ in one bit, their
/// images differ in about half of the bits. So `mixed(x) % k == 0` chooses as if by chance, and yet is a function of x.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// The hash of these bytes, appended to what has the hash `before`.
inline std::uint64_t mixed(std::uint64_t before, std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) before = mixed(before ^ std::uint64_t(byte));
  return before;
}

}  // namespace tlm
