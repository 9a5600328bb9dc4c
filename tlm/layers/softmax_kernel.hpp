#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/layer.hpp>
#include <tlm/algebra/weights.hpp>
#include <tlm/layers/softmax.hpp>
#include <tlm/matrix/visible.hpp>

namespace tlm {

/// Each row becomes the softmax of its visible entries. (A hidden one must not take part even in the maximum that is
/// subtracted, or it would show.)
template <std::size_t n_heads, class Mask, class Real, std::size_t block>
void softmax_of_visible(const VisibleMatrices<n_heads, Mask, Real, block>& A) {
  for_each_row([](std::size_t visible, Real* x) { softmax(x, visible); }, A);
}

/// The condition under which a mask goes with keys K. A failure shows both.
template <class Mask, class K>
struct MaskFits {
  static constexpr bool value = true;  // If not, the next line says so: once.
  static_assert(!(std::is_same_v<Mask, Causal> && constant<K>),
                "a causal mask compares positions of one sequence: a query has none among the keys of a memory");
};

/// A_i(X) = softmax(◺(Q_i(X)×K_i(X)ᵀ / √d_head)) for each head i. (Article, "Multi-Head Causal Attention".)
///
/// Q_i(X) and K_i(X) are the i-th of n_heads blocks of d_head columns of Q(X) and K(X). `Mask` says what is visible:
/// Causal is ◺, Unmasked leaves it out. With Causal a causal kernel if Q and K are autoregressive: entry (i, j) depends
/// on row i of Q(X) and the rows up to i of K(X) alone.
template <std::size_t n_heads, class Mask, class Q, class K, std::size_t block = 32>
struct SoftmaxKernel {
  using domain = typename Q::domain;
  using Queries = typename Q::codomain;
  using Keys = typename K::codomain;
  using Real = typename Keys::Real;
  using Kernel = VisibleMatrices<n_heads, Mask, Real, block>;
  static constexpr std::size_t d_head = Keys::cols / n_heads;
  static_assert(MaskFits<Mask, K>::value);

  Q q;
  K k;

  /// With S = QKᵀ and A = softmax(S/c), row by row and over the visible entries:
  ///
  ///   a_j = exp(s_j/c)/Σ_k exp(s_k/c)   hence  ds_j = a_j (da_j − Σ_k a_k da_k)/c;
  ///   S = QKᵀ                           hence  dQ = dS×K,  dK = dSᵀ×Q.
  template <class... Entries>
  auto value_and_pullback(const domain& X, const Entries&... entries) const {
    auto [Q_X, Q_pullback] = differentiate(q, X, entries...);
    auto [K_X, K_pullback] = differentiate(k, X, entries...);
    Kernel A = kernel(Q_X, K_X);
    return with_pullback(A, [A, Q_X = std::move(Q_X), K_X = std::move(K_X), Q_pullback = std::move(Q_pullback),
                             K_pullback = std::move(K_pullback)](const Kernel& dA, SoftmaxKernel& gradient,
                                                                 Entries&... entry_gradients) {
      const Kernel dS = dA.like();
      for_each_row(
          [](std::size_t visible, const Real* a, const Real* da, Real* ds) {
            softmax_pullback(a, da, ds, visible);
            for (std::size_t j = 0; j < visible; ++j) ds[j] = ds[j] * one_over_c();
          },
          A, dA, dS);
      return Q_pullback(dS * K_X, gradient.q, entry_gradients...) +
             K_pullback(transposed_product(dS, Q_X), gradient.k, entry_gradients...);
    });
  }

  /// What Q and K remember, and the rows of K(X) so far.
  struct State {
    tlm::State<Q> q;
    tlm::State<K> k;
    Keys K_X;
  };

  /// The next rows of A(X): as A(X|i) is the leading block of A(X), the earlier ones stand.
  template <class... Entries>
  Kernel extend(State& state, const domain& X, const Entries&... entries) const {
    state.K_X = continued(state.K_X, tlm::extend(k, state.k, X, entries...));
    return kernel(tlm::extend(q, state.q, X, entries...), state.K_X);
  }

  static constexpr void weights(auto&& visit, auto&... layer) {
    visit_part<Q>(visit, 0, layer.q...);
    visit_part<K>(visit, 0, layer.k...);
  }

 private:
  static Real one_over_c() { return Real(1) / sqrt(Real(d_head)); }

  static Kernel kernel(const Queries& Q_X, const Keys& K_X) {
    Kernel A = visible_product<Kernel>(Q_X, K_X, one_over_c());
    softmax_of_visible(A);
    return A;
  }
};

}  // namespace tlm
