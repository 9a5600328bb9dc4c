// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/layers/entrywise.hpp>
#include <tlm/numbers/functions.hpp>

namespace tlm {

namespace detail {

/// x ↦ max(0, x), with the derivative 0 at 0.
struct PositivePart {
  static auto value(const auto& x) { return relu(x); }
  static auto derivative(const auto& x) { return relu_derivative(x); }
};

}  // namespace detail

/// ReLU(X) = max(0, X), entry by entry. Rowwise. (Article, "The Feed Forward layer".)
template <std::size_t cols, class Real = float>
struct ReLU : Entrywise<detail::PositivePart, cols, Real> {
  static constexpr std::string_view symbol = "ReLU";
};

}  // namespace tlm
