// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/algebra/composition.hpp>
#include <tlm/layers/affine.hpp>
#include <tlm/layers/relu.hpp>

namespace tlm {

/// FFN(X) = max(0, X×W_1 + b_1)×W_2 + b_2. (The Formulated Transformer, "Position-wise Feed-Forward Network".)
///
/// W_1 is d_model × d_ff and W_2 is d_ff × d_model; b_1 and b_2 are added to every row. Rowwise.
template <std::size_t d_model, std::size_t d_ff, class Real = float>
struct FeedForwardNetwork : Composition<Plus<"b_2", d_model, Real>,         // + b_2
                                        Times<"W_2", d_ff, d_model, Real>,  // × W_2
                                        ReLU<d_ff, Real>,                   // max(0, ·)
                                        Plus<"b_1", d_ff, Real>,            // + b_1
                                        Times<"W_1", d_model, d_ff, Real>>  // × W_1
{
  static constexpr std::string_view symbol = "FFN";
};

}  // namespace tlm
