// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/algebra/composition.hpp>
#include <tlm/layers/affine.hpp>
#include <tlm/layers/normalization.hpp>
#include <tlm/layers/relu.hpp>

namespace tlm {

/// FF(X) = ReLU(N_ff(X)×A + K)×B + L. (Article, "The Feed Forward layer".)
///
/// A is d_model × d_ff and B is d_ff × d_model; the rows of K and L are identical. Rowwise.
template <std::size_t d_model, std::size_t d_ff, class Real = float>
struct FeedForward : Composition<Plus<"L", d_model, Real>,              // + L
                                 Times<"B", d_ff, d_model, Real>,       // × B
                                 ReLU<d_ff, Real>,                      // ReLU
                                 Plus<"K", d_ff, Real>,                 // + K
                                 Times<"A", d_model, d_ff, Real>,       // × A
                                 Normalization<"N_ff", d_model, Real>>  // N_ff
{
  static constexpr std::string_view symbol = "FF";
};

}  // namespace tlm
