// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <type_traits>

#include <tlm/algebra/rules.hpp>
#include <tlm/algebra/weights.hpp>

namespace tlm {

/// No bias: nothing is added to the scores of attention.
///
/// A bias b tells attention about positions. Score (i, j) of head h becomes q_i·k_j/√d_head + b(h, i, j), where h, i
/// and j count from 0. A bias works on row i, which has `visible` entries:
///
///   using declared = is::Positional;      b is a function of h, i and j, and of weights of its own
///   add(h, i, s, visible)                 s_j += b(h, i, j) for j < visible
///   pull_back(h, i, s_bar, visible, gradient)      given s̄_j = ∂L/∂s_j, adds ∂L/∂(weights) to the gradient
///   weights(visit, layer…)                like a layer
///   symbol                                if it has one, under which its weights are found
///
struct NoBias {
  using declared = is::Positional;
  static void add(std::size_t, std::size_t, auto*, std::size_t) {}
  static void pull_back(std::size_t, std::size_t, const auto*, std::size_t, NoBias&) {}
  static constexpr void weights(auto&&, auto&...) {}
};

namespace detail {

/// The condition under which a Bias is one, for scores that are numbers of type Real. A failure shows it.
template <class Bias, class Real>
struct IsBias {
  static constexpr bool value = true;  // If not, one of the next lines says so: once.
  static constexpr bool declares = rules::Leaf<Bias>;
  static constexpr bool adds = requires(const Bias& b, std::size_t i, Real* s) { b.add(i, i, s, i); };
  static constexpr bool pulls_back = requires(const Bias& b, std::size_t i, const Real* s, Bias& gradient) {
    b.pull_back(i, i, s, i, gradient);
  };
  static constexpr bool visits = requires(Bias & b) {
    Bias::weights([](const Name&, auto&...) {}, b);
  };
  static_assert(declares, "a bias declares that it is a function of positions: using declared = tlm::is::Positional");
  static_assert(
      !declares || adds,
      "a bias is added to a row of scores: void add(std::size_t h, std::size_t i, Real* s, std::size_t visible) "
      "const, in the numbers of the scores");
  static_assert(!declares || !adds || pulls_back,
                "a bias has a derivative: void pull_back(std::size_t h, std::size_t i, const Real* s_bar, std::size_t "
                "visible, Bias& gradient) const");
  static_assert(!declares || !adds || !pulls_back || visits,
                "a bias visits its weights like a layer: static constexpr void weights(auto&& visit, auto&... bias)");
};

}  // namespace detail

}  // namespace tlm
