#pragma once

#include <cstddef>

#include <tlm/algebra/rules.hpp>

namespace tlm {

/// No bias: nothing is added to the scores of attention.
///
/// A bias b is a place for what attention knows of positions: score (i, j) of head h becomes q_i·k_j/√d_head + b(h, i, j),
/// where h, i and j count from 0. It works on row i, of which the first `visible` entries are there:
///
///   using declared = is::Positional;      b is a function of h, i and j, and of weights of its own
///   add(h, i, s, visible)                 s_j += b(h, i, j) for j < visible
///   pull_back(h, i, s_bar, visible, gradient)      given s̄_j = ∂L/∂s_j, adds ∂L/∂(weights) to the gradient
///   weights(visit, layer…)                like a layer
struct NoBias {
  static void add(std::size_t, std::size_t, auto*, std::size_t) {}
  static void pull_back(std::size_t, std::size_t, const auto*, std::size_t, NoBias&) {}
  static constexpr void weights(auto&&, auto&...) {}
};

}  // namespace tlm
