// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tlm/algebra/environment.hpp>
#include <tlm/algebra/extension.hpp>
#include <tlm/algebra/pullback.hpp>
#include <tlm/attention/kernel_matrices.hpp>
#include <tlm/matrix/rows_so_far.hpp>

namespace tlm {

/// A kernel: an operation that returns KernelMatrices, a matrix for each head with as many columns as X (or the memory)
/// has rows.
template <class A>
concept Kernel = requires {
  A::codomain::n_heads;
  typename A::codomain::Mask;
};

/// The condition under which A(X)×B(X) is a function of X. A failure shows both domains.
template <class DomainOfA, class DomainOfB>
struct TakeTheSame {
  static constexpr bool value = true;  // If not, the next line says so: once.
  static_assert(std::is_same_v<DomainOfA, DomainOfB>,
                "in a product A(X)×B(X) both take the same X: A and B have the same domain");
};

/// A single head of A(X)×B(X): what the derivation of a product of several heads speaks of. There are no objects of it.
template <class A, class B>
struct HeadOf;

/// The form of A(X)×B(X): of several heads it is Concat(H_1(X), …, H_h(X)), if A says what its heads are.
template <class A, class B>
struct FormOfProduct {
  using form = forms::Product<A, B>;
};
template <class A, class B>
requires(A::codomain::n_heads > 1 && requires { typename A::OneHead; }) struct FormOfProduct<A, B> {
  using form = forms::Heads<HeadOf<A, B>, A::codomain::n_heads>;
};

/// Block i of the columns of F(X), for head i. There are no objects of it.
template <class F>
struct ColumnsOf {
  using form = forms::BlockOfColumns<F>;
};

template <class A, class B>
struct HeadOf {
  static constexpr std::string_view symbol = "H_i";
  using form = forms::Product<typename A::OneHead, ColumnsOf<B>>;
};

/// X ↦ A(X)×B(X), where A is a kernel.
///
/// A kernel has a matrix for each head, and so has B(X): a contiguous block of its columns. The products stand side by
/// side: Concat(A_1(X)×B_1(X), …, A_h(X)×B_h(X)).
///
/// Autoregressive if A is a causal kernel and B is autoregressive (article, Claim):
/// row i of the product is Σ_{j ≤ i} A(X)_ij B(X)_j, and all of these are the same for X and X|i.
template <Kernel A, class B>
struct KernelProduct {
  using form = typename FormOfProduct<A, B>::form;
  using domain = typename A::domain;
  using codomain = typename B::codomain;
  static_assert(IsLayer<A>::value && IsLayer<B>::value);
  static_assert(TakeTheSame<domain, typename B::domain>::value);

  A a;
  B b;

  template <class... Entries>
  codomain operator()(const domain& X, const Entries&... entries) const {
    return apply(a, X, entries...) * apply(b, X, entries...);
  }

  /// The product rule: d(A×B) = dA×B + A×dB, hence Ā = Ȳ×Bᵀ and B̄ = Aᵀ×Ȳ.
  template <class... Entries>
  auto value_and_pullback(const domain& X, const Entries&... entries) const& {
    auto [A_X, A_pullback] = differentiate(a, X, entries...);
    auto [B_X, B_pullback] = differentiate(b, X, entries...);
    auto Y = A_X * B_X;
    return with_pullback(
        std::move(Y), [A_X = std::move(A_X), B_X = std::move(B_X), A_pullback = std::move(A_pullback),
                       B_pullback = std::move(B_pullback)](const codomain& Y_bar, KernelProduct& gradient,
                                                           Entries&... entry_gradients) {
          return A_pullback(visible_product<typename A::codomain>(Y_bar, B_X), gradient.a, entry_gradients...) +
                 B_pullback(transposed_product(A_X, Y_bar), gradient.b, entry_gradients...);
        });
  }
  auto value_and_pullback(auto&&...) const&& { return refuse_temporary<KernelProduct>(); }

  /// What A and B remember, and the rows of B(X) so far.
  struct State {
    tlm::State<A> a;
    tlm::State<B> b;
    RowsSoFar<codomain::cols, A::codomain::n_heads, typename codomain::Real> B_X;
  };

  /// The next rows of A(X), times all rows of B(X) so far.
  template <class... Entries>
  codomain extend(State& state, const domain& X, const Entries&... entries) const {
    const auto A_X = advance(a, state.a, X, entries...);
    state.B_X.append(advance(b, state.b, X, entries...));
    return A_X * state.B_X;
  }

  static constexpr void parts(auto&& visit, auto&... layer) {
    visit(0, layer.a...);
    visit(0, layer.b...);
  }
};

}  // namespace tlm
