#pragma once

#include <cstddef>

#include <tlm/algebra/rules.hpp>

namespace tlm {

/// No bias: nothing is added to the scores of attention.
///
/// A bias b is a place for what attention knows of positions: score (i, j) of head h becomes q_i·k_j/√d_head + b(h, i, j),
/// where h, i and j count from 0. It has
///
///   using declared = is::Positional;                       it is a function of h, i and j, and of weights of its own
///   Real operator()(h, i, j) const;
///   void pull_back(h, i, j, const Real& bar, Bias& gradient) const;     adds ∂L/∂(weights), given ∂L/∂b(h, i, j)
///   weights(visit, layer…)                                 like a layer
struct NoBias {
  static constexpr void weights(auto&&, auto&...) {}
};

}  // namespace tlm
