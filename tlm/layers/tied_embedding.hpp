#pragma once

#include <cstddef>
#include <utility>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/tied.hpp>
#include <tlm/layers/embedding.hpp>
#include <tlm/matrix/product.hpp>

namespace tlm {

/// x ↦ OneHot(x)×W_e, where W_e belongs to the environment. (The Formulated Transformer, "Forward pass".) Rowwise.
template <Symbol letter, std::size_t vocab_size, std::size_t d_model, class Real = float>
struct TiedEmbedding {
  using declared = is::Rowwise;
  using domain = Tokens;
  using codomain = Matrix<n, d_model, Real>;
  using Entry = TiedWeight<letter, vocab_size, d_model, Real>;

  /// Throws std::out_of_range for a token that is not in the vocabulary.
  template <class... Entries>
  codomain operator()(const domain& x, const Entries&... entries) const {
    return look_up(read<const Entry>(entries...).W, x);
  }

  /// OneHot(x)×W is linear in W, hence dW = OneHot(x)ᵀ×dY. Tokens are no real numbers: nothing goes back.
  template <class... Entries>
  auto value_and_pullback(domain x, const Entries&... entries) const {
    codomain Y = (*this)(x, entries...);
    return with_pullback(std::move(Y),
                         [x = std::move(x)](const codomain& dY, TiedEmbedding&, Entries&... entry_gradients) {
                           accumulate_look_up(read<Entry>(entry_gradients...).W, x, dY);
                           return Nothing{};
                         });
  }

  static constexpr void weights(auto&&, auto&...) {}
};

/// Y ↦ Y×W_eᵀ, where W_e belongs to the environment. (The Formulated Transformer, "Forward pass".) Rowwise.
template <Symbol letter, std::size_t vocab_size, std::size_t d_model, class Real = float>
struct TiedOutput {
  using declared = is::Rowwise;
  using domain = Matrix<n, d_model, Real>;
  using codomain = Matrix<n, vocab_size, Real>;
  using Entry = TiedWeight<letter, vocab_size, d_model, Real>;

  template <class... Entries>
  codomain operator()(const domain& X, const Entries&... entries) const {
    return X * transposed(read<const Entry>(entries...).W);
  }

  /// Z = X×Wᵀ, hence dX = dZ×W and dW = dZᵀ×X.
  template <class... Entries>
  auto value_and_pullback(domain X, const Entries&... entries) const {
    const Entry& entry = read<const Entry>(entries...);
    codomain Z = X * transposed(entry.W);
    return with_pullback(std::move(Z),
                         [&entry, X = std::move(X)](const codomain& dZ, TiedOutput&, Entries&... entry_gradients) {
                           accumulate(read<Entry>(entry_gradients...).W, transposed(dZ), X);
                           return dZ * entry.W;
                         });
  }

  static constexpr void weights(auto&&, auto&...) {}
};

}  // namespace tlm
