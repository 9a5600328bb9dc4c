// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/algebra/composition.hpp>
#include <tlm/algebra/residual.hpp>
#include <tlm/layers/causal_attention.hpp>
#include <tlm/layers/feed_forward.hpp>
#include <tlm/layers/normalization.hpp>

namespace tlm {

/// DB(X) = Res(FF)(Res(CA∘N_ca)(X)) = X + CA(N_ca(X)) + FF(X + CA(N_ca(X))). (Article, "DecoderBlock Definition".)
/// Autoregressive.
template <std::size_t d_model, std::size_t d_ff, std::size_t n_heads, class Real = float>
struct DecoderBlock : Composition<Res<FeedForward<d_model, d_ff, Real>>,                     // Res(FF)
                                  Res<Composition<CausalAttention<d_model, n_heads, Real>,   // ∘ Res(CA
                                                  Normalization<"N_ca", d_model, Real>>>> {  //     ∘ N_ca)
  static constexpr std::string_view symbol = "DB";
};

/// DB(X) = Res(FF∘Res(CA∘N_ca))(X) = X + FF(X + CA(N_ca(X))). (Article, "inspirational idea"; the notebook's code
/// returns this block.) Autoregressive.
template <std::size_t d_model, std::size_t d_ff, std::size_t n_heads, class Real = float>
struct InspirationalDecoderBlock
    : Res<Composition<FeedForward<d_model, d_ff, Real>,                           // Res(FF
                      Res<Composition<CausalAttention<d_model, n_heads, Real>,    //     ∘ Res(CA
                                      Normalization<"N_ca", d_model, Real>>>>> {  //         ∘ N_ca))
  static constexpr std::string_view symbol = "DB";
};

}  // namespace tlm
