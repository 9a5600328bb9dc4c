#pragma once

#include <utility>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/layer.hpp>
#include <tlm/algebra/weights.hpp>
#include <tlm/matrix/visible.hpp>

namespace tlm {

/// X ↦ A(X)×B(X), where A is a kernel: it returns matrices with as many columns as B(X) has rows.
///
/// A kernel has a matrix for each head, and so has B(X): a contiguous block of its columns. The products stand side by
/// side: Concat(A_1(X)×B_1(X), …, A_h(X)×B_h(X)).
///
/// Autoregressive if A is a causal kernel and B is autoregressive (article, Claim):
/// row i of the product is Σ_{j ≤ i} A(X)_ij B(X)_j, and all of these are the same for X and X|i.
template <class A, class B>
struct KernelProduct {
  using definition = KernelProduct;
  using domain = typename A::domain;
  using codomain = typename B::codomain;

  A a;
  B b;

  template <class... Entries>
  codomain operator()(const domain& X, const Entries&... entries) const {
    State nothing_yet;
    return extend(nothing_yet, X, entries...);
  }

  /// The product rule: d(A×B) = dA×B + A×dB, hence dA = dY×Bᵀ and dB = Aᵀ×dY.
  template <class... Entries>
  auto value_and_pullback(const domain& X, const Entries&... entries) const {
    auto [A_X, A_pullback] = a.value_and_pullback(X, entries...);
    auto [B_X, B_pullback] = differentiate(b, X, entries...);
    auto Y = A_X * B_X;
    return with_pullback(std::move(Y), [A_X = std::move(A_X), B_X = std::move(B_X), A_pullback = std::move(A_pullback),
                                        B_pullback = std::move(B_pullback)](const codomain& dY, KernelProduct& gradient,
                                                                            Entries&... entry_gradients) {
      using Kernel = std::remove_cvref_t<decltype(A_X)>;
      return A_pullback(visible_product<Kernel>(dY, B_X), gradient.a, entry_gradients...) +
             B_pullback(transposed_product(A_X, dY), gradient.b, entry_gradients...);
    });
  }

  /// What A and B remember, and the rows of B(X) so far.
  struct State {
    typename A::State a;
    tlm::State<B> b;
    codomain B_X;
  };

  /// The next rows of A(X), times all rows of B(X) so far.
  template <class... Entries>
  codomain extend(State& state, const domain& X, const Entries&... entries) const {
    const auto A_X = a.extend(state.a, X, entries...);
    state.B_X = continued(state.B_X, tlm::extend(b, state.b, X, entries...));
    return A_X * state.B_X;
  }

  static constexpr void weights(auto&& visit, auto&... layer) {
    visit_part<A>(visit, 0, layer.a...);
    visit_part<B>(visit, 0, layer.b...);
  }
};

}  // namespace tlm
