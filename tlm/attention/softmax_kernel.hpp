// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/extension.hpp>
#include <tlm/algebra/pullback.hpp>
#include <tlm/attention/bias.hpp>
#include <tlm/attention/kernel_matrices.hpp>
#include <tlm/attention/kernel_product.hpp>
#include <tlm/attention/softmax.hpp>
#include <tlm/matrix/rows_so_far.hpp>

namespace tlm {

/// Each row becomes the softmax of its visible entries. (A hidden one must not take part even in the maximum that is
/// subtracted, or it would show.)
template <class Mask, class Real, std::size_t block>
void softmax_of_visible(const HeadMatrix<Mask, Real, block>& A) {
  for (std::size_t i = 0; i < A.rows; ++i) softmax(as_vector(&A(i, 0), A.visible(i)));
}

/// The condition under which a mask goes with keys K. A failure shows both.
template <class Mask, class K>
struct MaskFits {
  static constexpr bool value = true;  // If not, the next line says so: once.
  static_assert(std::is_same_v<Mask, Unmasked> || !constant<K>,
                "a causal mask compares positions of one sequence: a query has none among the keys of a memory");
};

/// The condition under which queries and keys have scores. A failure shows both layers.
template <class Q, class K>
struct HaveScores {
  static constexpr bool value = true;  // If not, one of the next lines says so: once.
  static constexpr bool same_domain = std::is_same_v<typename Q::domain, typename K::domain>;
  static_assert(same_domain, "queries and keys are made of the same X: Q and K have the same domain");
  static_assert(!same_domain || std::is_same_v<typename Q::codomain, typename K::codomain>,
                "a query is multiplied by a key: Q and K have as many columns, of the same kind of numbers");
};

/// The form of a softmax kernel with or without a bias.
template <std::size_t d_head, class Mask, class Q, class K, class Bias>
struct FormOfSoftmax {
  using form = forms::SoftmaxKernel<d_head, Mask, Q, K, Bias>;
};
template <std::size_t d_head, class Mask, class Q, class K>
struct FormOfSoftmax<d_head, Mask, Q, K, NoBias> {
  using form = forms::SoftmaxKernel<d_head, Mask, Q, K>;
};

/// A_h(X) = softmax(◺(Q_h(X)×K_h(X)ᵀ / √d_head)) for each head h. (Article, "Multi-Head Causal Attention".)
///
/// Q_h(X) and K_h(X) are the h-th of n_heads blocks of d_head columns of Q(X) and K(X). `Mask` says what is visible:
/// Causal is ◺, Unmasked leaves it out. A `Bias` is added to the scores before the softmax (bias.hpp). With Causal a
/// causal kernel if Q and K are autoregressive: entry (i, j) depends on row i of Q(X) and the rows up to i of K(X) alone.
template <std::size_t n_heads, class Mask, class Q, class K, class Bias = NoBias, std::size_t block = 32>
struct SoftmaxKernel {
  static_assert(IsLayer<Q>::value && IsLayer<K>::value);
  using domain = typename Q::domain;
  using Queries = typename Q::codomain;
  using Keys = typename K::codomain;
  using Real = typename Keys::Real;
  using codomain = KernelMatrices<n_heads, Mask, Real, block>;
  static_assert(CanSplit<Keys::cols, n_heads>::value);
  static constexpr std::size_t d_head = head_width<Keys::cols, n_heads>;
  static_assert(HaveScores<Q, K>::value);
  static_assert(MaskFits<Mask, K>::value);
  static_assert(IsBias<Bias, Real>::value);

  using form = typename FormOfSoftmax<d_head, Mask, Q, K, Bias>::form;
  /// One of several heads, for derivations.
  struct OneHead {
    using form = typename FormOfSoftmax<d_head, Mask, ColumnsOf<Q>, ColumnsOf<K>, Bias>::form;
  };

  Q q;
  K k;
  [[no_unique_address]] Bias bias;

  template <class... Entries>
  codomain operator()(const domain& X, const Entries&... entries) const {
    return kernel(apply(q, X, entries...), apply(k, X, entries...));
  }

  /// With S = QKᵀ/c + b and A = softmax(S), row by row and over the visible entries, c = √d_head:
  ///
  ///   a_j = exp(s_j)/Σ_k exp(s_k)   hence  s̄_j = a_j (ā_j − Σ_k a_k ā_k);
  ///   S = QKᵀ/c + b                 hence  Q̄ = S̄×K/c,  K̄ = S̄ᵀ×Q/c,  b̄ = S̄.
  template <class... Entries>
  auto value_and_pullback(const domain& X, const Entries&... entries) const& {
    auto [Q_X, Q_pullback] = differentiate(q, X, entries...);
    auto [K_X, K_pullback] = differentiate(k, X, entries...);
    codomain A = kernel(Q_X, K_X);
    return with_pullback(A, [this, A, Q_X = std::move(Q_X), K_X = std::move(K_X), Q_pullback = std::move(Q_pullback),
                             K_pullback = std::move(K_pullback)](const auto& A_bar, SoftmaxKernel& gradient,
                                                                 Entries&... entry_gradients) {
      require_same_sequences("the queries of A", A.queries(), "those of A_bar", A_bar.queries());
      require_same_sequences("the keys of A", A.keys(), "those of A_bar", A_bar.keys());
      Queries Q_bar{A.queries(), Real(0)};
      Keys K_bar{A.keys(), Real(0)};
      A.for_each_head([&](std::size_t s, std::size_t h) {
        const auto A_bar_sh = A_bar.own(s, h);
        const auto& S_bar = A_bar_sh.matrix;  // row by row in the place of Ā
        for (std::size_t i = 0; i < S_bar.rows; ++i) {
          const std::size_t visible = S_bar.visible(i);
          softmax_pullback(as_vector(&A(s, h)(i, 0), visible), as_vector(&S_bar(i, 0), visible));
          bias.pull_back(h, S_bar.position(i), &S_bar(i, 0), visible, gradient.bias);
        }
        accumulate_visible<false, d_head>(S_bar, head<n_heads>(K_X, s, h), head<n_heads>(Q_bar, s, h), one_over_c());
        accumulate_visible<true, d_head>(S_bar, head<n_heads>(Q_X, s, h), head<n_heads>(K_bar, s, h), one_over_c());
      });
      return Q_pullback(std::move(Q_bar), gradient.q, entry_gradients...) +
             K_pullback(std::move(K_bar), gradient.k, entry_gradients...);
    });
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<SoftmaxKernel>(); }

  /// What Q and K remember, and the rows of K(X) so far.
  struct State {
    tlm::State<Q> q;
    tlm::State<K> k;
    RowsSoFar<Keys::cols, n_heads, Real> K_X;
  };

  /// The next rows of A(X): as A(X|i) is the leading block of A(X), the earlier ones stand.
  template <class... Entries>
  codomain extend(State& state, const domain& X, const Entries&... entries) const {
    state.K_X.append(advance(k, state.k, X, entries...));
    return kernel(advance(q, state.q, X, entries...), state.K_X);
  }

  static constexpr void parts(auto&& visit, auto&... layer) {
    visit(0, layer.q...);
    visit(0, layer.k...);
    visit(0, layer.bias...);
  }

 private:
  static Real one_over_c() { return Real(1) / sqrt(Real(d_head)); }

  codomain kernel(const Queries& Q_X, const RowsForHeads<n_heads, Keys::cols, Real> auto& K_X) const {
    codomain A{Q_X.sequences(), K_X.sequences()};
    A.for_each_head([&](std::size_t s, std::size_t h) {
      const auto A_sh = A(s, h);
      multiply_visible(head<n_heads>(Q_X, s, h), head<n_heads>(K_X, s, h), A_sh, one_over_c());
      for (std::size_t i = 0; i < A_sh.rows; ++i) bias.add(h, A_sh.position(i), &A_sh(i, 0), A_sh.visible(i));
      softmax_of_visible(A_sh);
    });
    return A;
  }
};

}  // namespace tlm
