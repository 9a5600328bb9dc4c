// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <tlm/algebra/application.hpp>
#include <tlm/attention/attention_weights.hpp>
#include <tlm/attention/conditions.hpp>
#include <tlm/attention/kv_cache.hpp>
#include <tlm/attention/mask_and_bias.hpp>
#include <tlm/numbers/rows.hpp>

namespace tlm {

/// H(X) = Concat(H_1(X), …, H_h(X)) with h = n_heads and
///
///   H_i(X) = softmax(mask(Q_i(X)×K_i(X)ᵀ / √d_head + b)) × V_i(X).
///
/// Q_i(X), K_i(X) and V_i(X) are the i-th contiguous blocks of columns of Q(X), K(X) and V(X). (In the code h is a head,
/// from 0, and i a query.) `Mask` is Causal (◺) or Unmasked (nothing is masked), and `block` is the maximum number of
/// rows in an edge of the mask. With K and V FromMemory it is cross-attention. A `Bias` b is a function of positions
/// (mask_and_bias.hpp); usually there is none. (Article, "Multi-Head Causal Attention".)
///
/// With ◺ it is autoregressive if Q, K and V are. softmax(◺(…)) is a causal kernel: lower triangular, and A(X|i) is the
/// leading i×i block of A(X). The article's Claim is about its product with an autoregressive V. (proofs/03_product.cpp.)
template <std::size_t n_heads, class Mask, class Q, class K, class V, class Bias = NoBias, std::size_t block = 32>
struct Attention {
  static_assert(detail::IsAttention<n_heads, Mask, Q, K, V, Bias>::value);
  using domain = typename Q::domain;
  using codomain = typename V::codomain;
  using Queries = typename Q::codomain;
  using Keys = typename K::codomain;
  using Real = typename Keys::Real;
  static constexpr std::size_t d_head = detail::head_width<Keys::cols, n_heads>;
  static constexpr std::size_t d_value = detail::head_width<codomain::cols, n_heads>;

  /// The weights of a head with these queries and keys.
  template <class Q_h, class K_h>
  using KernelOf = std::conditional_t<std::is_same_v<Bias, NoBias>, forms::SoftmaxKernel<d_head, Mask, Q_h, K_h>,
                                      forms::SoftmaxKernel<d_head, Mask, Q_h, K_h, Bias>>;
  /// What `attend` computes, for the rules and for printing: A(X)×V(X), or Concat of that for each head.
  using form = std::conditional_t<
      n_heads == 1, forms::Product<KernelOf<Q, K>, V>,
      forms::Heads<forms::Head<KernelOf<forms::BlockOfColumns<Q>, forms::BlockOfColumns<K>>, forms::BlockOfColumns<V>>,
                   n_heads>>;

  Q q;
  K k;
  [[no_unique_address]] Bias bias;
  V v;

  codomain operator()(const domain& X, const auto&... environment) const {
    return value_and_weights(X, environment...).value;
  }

  /// H(X), and the weights A of each head.
  struct ValueAndWeights {
    codomain value;
    AttentionWeights<n_heads, Mask, Real, block> weights;
  };
  ValueAndWeights value_and_weights(const domain& X, const auto&... environment) const {
    const Queries Q_X = apply(q, X, environment...);  // Q, then K, then V, as everywhere
    const Keys K_X = apply(k, X, environment...);
    return attend(Q_X, K_X, apply(v, X, environment...));
  }

  /// With Y = A×V, A = softmax(S) row by row, and S = Q×Kᵀ/c + b in each head, over what is visible and with c = √d_head:
  ///
  ///   dY = dA×V + A×dV              hence  Ā = Ȳ×Vᵀ,  V̄ = Aᵀ×Ȳ;
  ///   a_j = exp(s_j)/Σ_k exp(s_k)   hence  s̄_j = a_j (ā_j − Σ_k a_k ā_k);
  ///   dS = (dQ×Kᵀ + Q×dKᵀ)/c + db   hence  Q̄ = S̄×K/c,  K̄ = S̄ᵀ×Q/c,  b̄ = S̄.
  template <class... Environment>
  auto value_and_pullback(domain X, const Environment&... environment) const& {
    auto [Q_X, Q_pullback] = differentiate(q, X, environment...);
    auto [K_X, K_pullback] = differentiate(k, X, environment...);
    auto [V_X, V_pullback] = differentiate(v, std::move(X), environment...);
    auto [Y, A] = attend(Q_X, K_X, V_X);
    return detail::Result{
        std::move(Y),
        [this, Q_X = std::move(Q_X), K_X = std::move(K_X), V_X = std::move(V_X), A = std::move(A),
         Q_pullback = std::move(Q_pullback), K_pullback = std::move(K_pullback), V_pullback = std::move(V_pullback)](
            const codomain& Y_bar, Attention& gradient, Environment&... environment_gradient) {
          require_same_sequences("Y", A.queries(), "Y_bar", Y_bar.sequences());
          Queries Q_bar{A.queries()};
          Keys K_bar{A.keys()};
          codomain V_bar{A.keys()};
          for (std::size_t s = 0; s < A.queries().count(); ++s)
            for (std::size_t h = 0; h < n_heads; ++h) {
              const auto A_h = A(s, h);
              const auto Q_h = head(Q_X, s, h), K_h = head(K_X, s, h), V_h = head(V_X, s, h),
                         Y_bar_h = head(Y_bar, s, h);
              Matrix<n, 1, Real> entries_of_S_bar{Sequences{A_h.rows * A_h.cols}};
              const detail::MaskedMatrix<Mask, Real, block> S_bar{entries_of_S_bar.data(), A_h.rows, A_h.cols};
              multiply(Y_bar_h, V_h.transposed(), S_bar, Real(1));  // Ā, which becomes S̄
              for (std::size_t i = 0; i < S_bar.rows; ++i) {
                softmax_pullback(A_h.row(i), S_bar.row(i));
                bias.pull_back(h, S_bar.position(i), S_bar.row(i), gradient.bias);
              }
              accumulate<d_value, true>(head(V_bar, s, h), A_h, Y_bar_h);             // V̄ += Aᵀ×Ȳ
              accumulate<d_head>(head(Q_bar, s, h), S_bar, K_h, one_over_c());        // Q̄ += S̄×K/c
              accumulate<d_head, true>(head(K_bar, s, h), S_bar, Q_h, one_over_c());  // K̄ += S̄ᵀ×Q/c
            }
          return Q_pullback(std::move(Q_bar), gradient.q, environment_gradient...) +
                 K_pullback(std::move(K_bar), gradient.k, environment_gradient...) +
                 V_pullback(std::move(V_bar), gradient.v, environment_gradient...);
        }};
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<Attention>(); }

  /// What Q, K and V remember, and the keys and values so far.
  struct State {
    tlm::State<Q> q;
    tlm::State<K> k;
    tlm::State<V> v;
    detail::KVCache<Keys> keys;
    detail::KVCache<codomain> values;
  };

  /// The next queries look at all keys and values so far. As A(X|i) is the leading block of A(X), no earlier row changes.
  codomain extend(State& state, const domain& X, const auto&... environment) const {
    const Queries Q_X = advance(q, state.q, X, environment...);
    state.keys.append(advance(k, state.k, X, environment...));
    state.values.append(advance(v, state.v, X, environment...));
    return attend(Q_X, state.keys, state.values).value;
  }

  static constexpr void parts(auto&& visit, auto& layer) {
    visit(0, layer.q);
    visit(0, layer.k);
    visit(0, layer.bias);
    visit(0, layer.v);
  }

 private:
  static Real one_over_c() {
    using std::sqrt;  // or that of Real
    return Real(1) / sqrt(Real(d_head));
  }

  /// X_h: the columns of head h in the rows of sequence s.
  template <class M>
  static auto head(M& X, std::size_t s, std::size_t h) {
    using detail::view;  // or that of a KVCache
    constexpr std::size_t width = M::cols / n_heads;
    return view(X, s).block(0, X.sequences().length(s), h * width, width);
  }

  /// For each sequence and each head h: S = Q_h×K_hᵀ/√d_head + b over what is visible, and A = softmax(S) row by row.
  /// Where the article writes −∞ there is no entry, as exp(−∞) = 0. A×V_h goes into its columns of Y.
  ValueAndWeights attend(const Queries& Q_X, const auto& K_X, const auto& V_X) const {
    require_same_sequences("the keys", K_X.sequences(), "the values", V_X.sequences());
    ValueAndWeights H{codomain{Q_X.sequences()}, {Q_X.sequences(), K_X.sequences()}};
    auto& [Y, A] = H;
    for (std::size_t s = 0; s < Q_X.sequences().count(); ++s)
      for (std::size_t h = 0; h < n_heads; ++h) {
        const auto Q_h = head(Q_X, s, h), K_h = head(K_X, s, h), V_h = head(V_X, s, h);
        const auto A_h = A(s, h);
        multiply(Q_h, K_h.transposed(), A_h, one_over_c());  // S, as far as the mask of A_h shows it; it becomes A
        for (std::size_t i = 0; i < A_h.rows; ++i) {
          bias.add(h, A_h.position(i), A_h.row(i));
          softmax(A_h.row(i));
        }
        accumulate<d_value>(head(Y, s, h), A_h, V_h);
      }
    return H;
  }
};

}  // namespace tlm
