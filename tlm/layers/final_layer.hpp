// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <tlm/algebra/composition.hpp>
#include <tlm/layers/affine.hpp>

namespace tlm {

/// Φ(X) = X×Y + B. (Article, "Final Layer".)
///
/// Y is d_model × vocab_size; the rows of B are identical. Rowwise.
template <std::size_t d_model, std::size_t vocab_size, class Real = float>
struct FinalLayer : Composition<Plus<"B", vocab_size, Real>, Times<"Y", d_model, vocab_size, Real>> {
  static constexpr std::string_view symbol = "Φ";
};

}  // namespace tlm
