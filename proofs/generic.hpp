// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/algebra/concat.hpp>
#include <tlm/algebra/parts.hpp>
#include <tlm/checking/dual.hpp>
#include <tlm/checking/prime_field.hpp>

#include "support.hpp"

/// Generic operations: all that is known of them is which rows of X a row of T(X) is a function of. If a rule holds for
/// these, it holds for every operation of that kind, as far as the prime field can tell. (One instance, such as CA,
/// might satisfy the rule for another reason.)
///
///   rowwise         T(X)_i = f(X_i)
///   autoregressive  T(X)_i = f(X_1, …, X_i)
///   unrestricted    T(X)_i = f(i, X_1, …, X_n)
///   causal kernel   A(X)_ij = f(j, X_1, …, X_i) for j ≤ i, and nothing above
///
/// Each f is an uninterpreted function. It is a function of a weight F, too: another F, another function. Over dual
/// numbers it has uninterpreted partial derivatives. So the generic operations are differentiable layers, and the rules
/// of the calculus (of compositions, sums, products) are checked on them as well.
namespace tlm::proofs {

/// An uninterpreted function of a list of numbers. There is one for each `name` and each length of the list.
inline PrimeField uninterpreted(std::uint64_t name, const std::vector<PrimeField>& list) {
  PrimeField value = PrimeField::hash(9, name);
  for (const PrimeField a : list) value = PrimeField::hash(9, 31 * value.residue() + a.residue());
  return PrimeField::hash(10, value.residue());
}
Dual<PrimeField> uninterpreted(std::uint64_t name, const std::vector<Dual<PrimeField>>& list);

/// The partial derivative of an uninterpreted function with respect to number k of its list: another uninterpreted
/// function.
template <class Real>
Real uninterpreted_derivative(std::uint64_t name, std::size_t k, const std::vector<Real>& list) {
  return uninterpreted(std::uint64_t{k + 1} << 32 | name, list);
}

/// The function of dual numbers: f(a + a′ε) = f(a) + Σ_k (∂f/∂a_k)(a)·a_k′ ε.
inline Dual<PrimeField> uninterpreted(std::uint64_t name, const std::vector<Dual<PrimeField>>& list) {
  std::vector<PrimeField> values;
  for (const auto& a : list) values.push_back(a.value);
  PrimeField tangent(0);
  for (std::size_t k = 0; k < list.size(); ++k) tangent += uninterpreted_derivative(name, k, values) * list[k].tangent;
  return {uninterpreted(name, values), tangent};
}

/// X, with each sequence continued by the corresponding one of `more`. An X without sequences becomes `more`.
template <std::size_t cols, class Real>
Matrix<n, cols, Real> continued(const Matrix<n, cols, Real>& X, const Matrix<n, cols, Real>& more) {
  if (X.sequences().count() == 0) return more;
  std::vector<std::size_t> lengths;
  for (std::size_t s = 0; s < X.sequences().count(); ++s)
    lengths.push_back(X.sequences().length(s) + more.sequences().length(s));
  Matrix<n, cols, Real> whole{Sequences::of_lengths(lengths)};
  Real* next = whole.data();
  for (std::size_t s = 0; s < lengths.size(); ++s)
    for (const auto* part : {&X, &more})
      next = std::copy_n(part->data() + part->sequences().begin(s) * cols, part->sequences().length(s) * cols, next);
  return whole;
}

/// The rows of its sequence of which row i (from 0) of a generic operation is a function.
template <class Claim>
struct Seen;
template <>
struct Seen<is::Rowwise> {
  static std::size_t first(std::size_t i) { return i; }
  static std::size_t count(std::size_t, std::size_t) { return 1; }
  static std::size_t place(std::size_t) { return 0; }
};
template <>
struct Seen<is::Autoregressive> {
  static std::size_t first(std::size_t) { return 0; }
  static std::size_t count(std::size_t i, std::size_t) { return i + 1; }
  static std::size_t place(std::size_t) { return 0; }
};
template <>
struct Seen<is::Unrestricted> {
  static std::size_t first(std::size_t) { return 0; }
  static std::size_t count(std::size_t, std::size_t n) { return n; }
  static std::size_t place(std::size_t i) { return i + 1; }
};

/// Adds the addresses of the numbers of rows first, …, first + count − 1 of sequence s.
template <class Address, class M>
void add_rows(std::vector<Address>& list, M& X, std::size_t s, std::size_t first, std::size_t count) {
  for (std::size_t r = X.sequences().begin(s) + first; r < X.sequences().begin(s) + first + count; ++r)
    for (std::size_t j = 0; j < M::cols; ++j) list.push_back(&X(r, j));
}

/// Adds the addresses of those numbers of an item of the environment that sequence s may read.
template <class Address, class Item>
void add_item(std::vector<Address>& list, Item& item, std::size_t s) {
  if constexpr (requires { item.rows; })
    add_rows(list, item.rows, s, 0, item.rows.sequences().length(s));
  else
    for (auto& w : item.W.xtensor()) list.push_back(&w);
}

/// The addresses of what row i of sequence s is a function of: F, rows of X and an item. Or the addresses of their
/// cotangents.
template <class SeenRows, class Weight, class M, class... Item>
auto arguments(Weight& F, M& X, std::size_t s, std::size_t i, Item&... item) {
  std::vector<decltype(&X(0, 0))> list{&F(0, 0)};
  add_rows(list, X, s, SeenRows::first(i), SeenRows::count(i, X.sequences().length(s)));
  (add_item(list, item, s), ...);
  return list;
}

/// The numbers at these addresses.
template <class Real>
std::vector<Real> values(const std::vector<const Real*>& addresses) {
  std::vector<Real> list;
  for (const Real* a : addresses) list.push_back(*a);
  return list;
}

/// Adds ȳ·∂f/∂a_k to each cotangent ā_k.
template <class Real>
void pull_back(std::uint64_t name, const std::vector<Real>& list, Real y_bar, const std::vector<Real*>& cotangents) {
  for (std::size_t k = 0; k < list.size(); ++k) *cotangents[k] += uninterpreted_derivative(name, k, list) * y_bar;
}

/// What a generic operation reads beside X.
template <class... Item>
struct Reading {};
template <class Item>
struct Reading<Item> {
  using reads = Item;
};

/// A kernel: it returns a matrix that has a column for each row of X, or of a memory.
template <class A>
concept Kernel = requires(const typename A::codomain& A_X) {
  A_X(0, 0).visible(0);
};

/// action(s, i, j) for each visible entry (i, j) of a kernel's matrix for sequence s.
template <class A>
void for_each_visible(const A& A_X, const auto& action) {
  for (std::size_t s = 0; s < A_X.queries().count(); ++s)
    for (std::size_t i = 0; i < A_X.queries().length(s); ++i)
      for (std::size_t j = 0; j < A_X(s, 0).visible(i); ++j) action(s, i, j);
}

/// The generic operation of this claim: entry (i, j) is a function of j and of the rows `Rows` of X. With an item of the
/// environment it is a function of that, too. The matrix of a kernel has the entries that its mask shows, and a column
/// for each row of X, or of the memory that it reads.
template <class Claim, class Rows, Symbol name, std::size_t from, class Codomain, class... Item>
struct GenericOperation : Reading<Item...> {
  using Real = typename Codomain::Real;
  using declared = Claim;
  using domain = Matrix<n, from, Real>;
  using codomain = Codomain;
  static constexpr std::string_view symbol = name;

  Matrix<1, 1, Real> F;

  codomain operator()(const domain& X, const Item&... item) const { return last_rows(X, X.sequences(), item...); }

  auto value_and_pullback(const domain& X, const Item&... item) const {
    return with_pullback(
        (*this)(X, item...),
        [layer = *this, X, item...](const codomain& Y_bar, GenericOperation& gradient, Item&... item_bar) {
          domain X_bar{X.sequences()};
          for_each_entry(Y_bar, [&](std::size_t s, std::size_t i, std::size_t j, const Real& y_bar) {
            pull_back(function(i, j), values<Real>(arguments<Seen<Rows>>(layer.F, X, s, i, item...)), y_bar,
                      arguments<Seen<Rows>>(gradient.F, X_bar, s, i, item_bar...));
          });
          return X_bar;
        });
  }

  /// All rows so far.
  struct State {
    domain X;
  };
  codomain extend(State& state, const domain& X, const Item&... item) const {
    state.X = continued(state.X, X);
    return last_rows(state.X, X.sequences(), item...);
  }

  static constexpr void weights(auto&& visit, auto& layer) { visit("F", layer.F); }

 private:
  static std::uint64_t function(std::size_t i, std::size_t j) { return Seen<Rows>::place(i) << 8 | j; }

  /// action(s, i, j, entry) for each entry of row i of sequence s.
  static void for_each_entry(auto& Y, const auto& action) {
    if constexpr (Kernel<GenericOperation>)
      for_each_visible(Y, [&](std::size_t s, std::size_t i, std::size_t j) { action(s, i, j, Y(s, 0)(i, j)); });
    else
      for (std::size_t s = 0; s < Y.sequences().count(); ++s)
        for (std::size_t i = 0; i < Y.sequences().length(s); ++i)
          for (std::size_t j = 0; j < codomain::cols; ++j) action(s, i, j, Y(Y.sequences().begin(s) + i, j));
  }

  static codomain not_set(const Sequences& rows, const domain& X, const Item&... item) {
    if constexpr (!Kernel<GenericOperation>)
      return codomain{rows};
    else if constexpr (sizeof...(Item) == 0)
      return codomain{rows, X.sequences()};
    else
      return codomain{rows, item.rows.sequences()...};
  }

  codomain last_rows(const domain& X, const Sequences& last, const Item&... item) const {
    codomain Y = not_set(last, X, item...);
    for_each_entry(Y, [&](std::size_t s, std::size_t r, std::size_t j, Real& y) {
      const std::size_t i = X.sequences().length(s) - last.length(s) + r;
      y = uninterpreted(function(i, j), values<Real>(arguments<Seen<Rows>>(F, X, s, i, item...)));
    });
    return Y;
  }
};
template <class Claim, Symbol name, std::size_t from, std::size_t to, class Real, class... Item>
using Generic = GenericOperation<Claim, Claim, name, from, Matrix<n, to, Real>, Item...>;
template <class Claim, class Rows, class Mask, Symbol name, std::size_t from, class Real, class... Item>
using GenericKernel = GenericOperation<Claim, Rows, name, from, AttentionWeights<1, Mask, Real, block>, Item...>;

/// X ↦ A(X)×B(X), by plain loops, for any kernel A of one head: what the article's Claim is about.
template <class A, class B>
struct GenericProduct {
  using form = forms::Product<A, B>;
  using domain = typename A::domain;
  using codomain = typename B::codomain;

  A a;
  B b;

  codomain operator()(const domain& X, const auto&... entries) const {
    return product(apply(a, X, entries...), apply(b, X, entries...));
  }

  /// d(A×B) = dA×B + A×dB, hence Ā = Ȳ×Bᵀ and B̄ = Aᵀ×Ȳ.
  template <class... Entries>
  auto value_and_pullback(const domain& X, const Entries&... entries) const& {
    auto [A_X, A_pullback] = differentiate(a, X, entries...);
    auto [B_X, B_pullback] = differentiate(b, X, entries...);
    auto Y = product(A_X, B_X);
    return with_pullback(
        std::move(Y), [A_X = std::move(A_X), B_X = std::move(B_X), A_pullback = std::move(A_pullback),
                       B_pullback = std::move(B_pullback)](const codomain& Y_bar, GenericProduct& gradient,
                                                           Entries&... entry_gradients) {
          typename A::codomain A_bar{A_X.queries(), A_X.keys()};
          codomain B_bar{B_X.sequences()};
          for_each_visible(A_X, [&](std::size_t s, std::size_t i, std::size_t j) {
            const std::size_t query = A_X.queries().begin(s) + i, key = A_X.keys().begin(s) + j;
            A_bar(s, 0)(i, j) = sum_of(Y_bar.row(query) * B_X.row(key));
            for (std::size_t k = 0; k < codomain::cols; ++k) B_bar(key, k) += A_X(s, 0)(i, j) * Y_bar(query, k);
          });
          return A_pullback(A_bar, gradient.a, entry_gradients...) + B_pullback(B_bar, gradient.b, entry_gradients...);
        });
  }

  struct State {
    tlm::State<A> a;
    tlm::State<B> b;
    codomain B_X;
  };
  codomain extend(State& state, const domain& X, const auto&... entries) const {
    const auto A_X = advance(a, state.a, X, entries...);
    state.B_X = continued(state.B_X, advance(b, state.b, X, entries...));
    return product(A_X, state.B_X);
  }

  static constexpr void parts(auto&& visit, auto& layer) {
    visit(0, layer.a);
    visit(0, layer.b);
  }

 private:
  using Real = typename codomain::Real;

  static codomain product(const typename A::codomain& A_X, const codomain& B_X) {
    codomain Y{A_X.queries()};
    for_each_visible(A_X, [&](std::size_t s, std::size_t i, std::size_t j) {
      for (std::size_t k = 0; k < codomain::cols; ++k)
        Y(A_X.queries().begin(s) + i, k) += A_X(s, 0)(i, j) * B_X(A_X.keys().begin(s) + j, k);
    });
    return Y;
  }
};

/// X ↦ A(X), the weights of one head of attention with these queries and keys, as a kernel.
template <class Mask, class Q, class K, class Bias>
struct KernelAlone {
  using H = Attention<1, Mask, Q, K, K, Bias, block>;
  using form = typename H::template KernelOf<Q, K>;
  using domain = typename Q::domain;
  using codomain = AttentionWeights<1, Mask, typename H::Real, block>;

  H h;  // its values, on which A does not depend, are its keys

  codomain operator()(const domain& X, const auto&... entries) const {
    return h.value_and_weights(X, entries...).weights;
  }
  static constexpr void parts(auto&& visit, auto& layer) {
    visit(0, layer.h.q);
    visit(0, layer.h.k);
    visit(0, layer.h.bias);
  }
};

/// X ↦ F(M; X), where M is the memory. Every row may depend on X: it has the rows of an operation that is independent
/// of X, and is not independent.
template <Symbol name, std::size_t cols, class Real>
struct MemoryThatLooksAtX {
  using declared = is::Unrestricted;
  using domain = Matrix<n, cols, Real>;
  using codomain = domain;
  using reads = Memory<domain>;
  static constexpr std::string_view symbol = name;

  Generic<is::Rowwise, name, cols, cols, Real, Memory<domain>> f;

  codomain operator()(const domain& X, const reads& memory) const { return f(memory.rows, {X}); }
  auto value_and_pullback(const domain& X, const reads& memory) const {
    auto [Y, pullback] = f.value_and_pullback(memory.rows, {X});
    return with_pullback(std::move(Y), [X, pullback = std::move(pullback)](
                                           const codomain& Y_bar, MemoryThatLooksAtX& gradient, reads& memory_bar) {
      reads X_bar{domain{X.sequences()}};
      memory_bar.rows += pullback(Y_bar, gradient.f, X_bar);
      return X_bar.rows;
    });
  }
  static constexpr void weights(auto&& visit, auto& layer) { visit("F", layer.f.F); }
};

/// b(h, i, j), a function of h, i and j.
template <class Real>
struct GenericBias {
  using declared = is::Positional;
  static constexpr std::string_view symbol = "b";

  Matrix<1, 1, Real> F;

  void add(std::size_t h, std::size_t i, auto s) const {
    for (std::size_t j = 0; j < s.size(); ++j) s[j] += uninterpreted(function(h, i, j), std::vector<Real>{F(0, 0)});
  }
  void pull_back(std::size_t h, std::size_t i, const auto& s_bar, GenericBias& gradient) const {
    for (std::size_t j = 0; j < s_bar.size(); ++j)
      proofs::pull_back<Real>(function(h, i, j), {F(0, 0)}, s_bar[j], {&gradient.F(0, 0)});
  }
  static constexpr void weights(auto&& visit, auto& bias) { visit("F", bias.F); }

 private:
  static std::uint64_t function(std::size_t h, std::size_t i, std::size_t j) { return (h << 8 | i) << 8 | j; }
};

/// A bias that is not a function of h, i and j: it depends on how often it was called before.
template <class Real>
struct BiasThatCounts : GenericBias<Real> {
  using declared = is::Unrestricted;
  mutable std::size_t calls = 0;

  void add(std::size_t h, std::size_t, auto s) const { GenericBias<Real>::add(h, calls++, s); }
};

/// Columns first, …, first + count − 1 of F(X): what a derivation about one of several heads is about.
template <class F, std::size_t first, std::size_t count>
struct Columns {
  using form = forms::BlockOfColumns<F>;
  using domain = DomainOf<F>;
  using codomain = Matrix<n, count, typename CodomainOf<F>::Real>;

  F f;

  codomain operator()(const domain& X, const auto&... entries) const {
    return columns<count>(apply(f, X, entries...), first);
  }
  using State = tlm::State<F>;
  codomain extend(State& state, const domain& X, const auto&... entries) const {
    return columns<count>(tlm::advance(f, state, X, entries...), first);
  }
  static constexpr void parts(auto&& visit, auto& layer) { visit(0, layer.f); }
};

// --- Formulas of generic parts -----------------------------------------------------------------------------------------

inline constexpr std::size_t cols = 2;
template <class Real>
using MemoryOfRows = Memory<Matrix<n, cols, Real>>;

/// The generic part for which this claim holds.
template <class Claim, Symbol name, class Real>
struct PartThat {
  using type = Generic<Claim, name, cols, cols, Real>;
};
template <Symbol name, class Real>
struct PartThat<is::Constant, name, Real> {
  using type = FromMemory<Generic<is::Unrestricted, name, cols, cols, Real>>;
};
/// An operation that is not independent of X, in the place of a memory.
struct LooksAtX {};
template <Symbol name, class Real>
struct PartThat<LooksAtX, name, Real> {
  using type = MemoryThatLooksAtX<name, cols, Real>;
};
/// Three kernels. One is causal. For one, A(X|i) is the leading block of A(X), but that is not lower triangular. One is
/// lower triangular, but A(X|i) is not the leading block of A(X).
template <Symbol name, class Real>
struct PartThat<is::CausalKernel, name, Real> {
  using type = GenericKernel<is::CausalKernel, is::Autoregressive, Causal, name, cols, Real>;
};
struct NotTriangular {};
template <Symbol name, class Real>
struct PartThat<NotTriangular, name, Real> {
  using type = GenericKernel<is::Unrestricted, is::Autoregressive, Unmasked, name, cols, Real>;
};
struct NotLeading {};
template <Symbol name, class Real>
struct PartThat<NotLeading, name, Real> {
  using type = GenericKernel<is::Unrestricted, is::Unrestricted, Causal, name, cols, Real>;
};
/// Kernels with a column for each row of a memory.
template <class Claim>
struct OverMemory {};
template <class Claim, Symbol name, class Real>
struct PartThat<OverMemory<Claim>, name, Real> {
  using type = GenericKernel<Claim, Claim, Unmasked, name, cols, Real, MemoryOfRows<Real>>;
};
template <Symbol name, class Real>
struct PartThat<is::LowerTriangular, name, Real> {
  using type = Causal;
};
template <Symbol name, class Real>
struct PartThat<is::Full, name, Real> {
  using type = Unmasked;
};
template <Symbol name, class Real>
struct PartThat<is::Positional, name, Real> {
  using type = GenericBias<Real>;
};
struct Counts {};
template <Symbol name, class Real>
struct PartThat<Counts, name, Real> {
  using type = BiasThatCounts<Real>;
};
template <class Claim, Symbol name, class Real>
using Part = typename PartThat<Claim, name, Real>::type;

// Each form of the rules, made of parts for which these claims hold.
template <class Real, class F>
struct Itself {
  using type = Part<F, "F", Real>;
};
template <class Real, class G, class F>
struct CompositionOf {
  using type = Composition<Part<G, "G", Real>, Part<F, "F", Real>>;
};
template <class Real, class F>
struct StackOf {
  using type = Stack<Part<F, "F", Real>, 2>;
};
template <class Real, class F>
struct ResOf {
  using type = Res<Part<F, "F", Real>>;
};
template <class Real, class F, class G>
struct ConcatOf {
  using type = Concat<Part<F, "F", Real>, Part<G, "G", Real>>;
};
template <class Real, class F>
struct ColumnOf {
  using type = Columns<Part<F, "F", Real>, 1, 1>;
};
template <class Real, class Mask, class Q, class K>
struct KernelOf {
  using type = KernelAlone<Part<Mask, "mask", Real>, Part<Q, "Q", Real>, Part<K, "K", Real>, NoBias>;
};
template <class Real, class Mask, class Q, class K, class Bias>
struct BiasedKernelOf {
  using type = KernelAlone<Part<Mask, "mask", Real>, Part<Q, "Q", Real>, Part<K, "K", Real>, Part<Bias, "b", Real>>;
};
template <class Real, class A, class B>
struct ProductOf {
  using type = GenericProduct<Part<A, "A", Real>, Part<B, "B", Real>>;
};
template <class Real, class F>
struct MemoryOf {
  using type = FromMemory<Part<F, "F", Real>>;
};
template <class Real, class F>
struct TiedOf {
  using W = TiedWeight<"W", 1, 2, Real>;
  using type = Tied<W, Generic<F, "F", cols, cols, Real, W>>;
};
template <class Real, class G, class F>
struct ThroughMemoryOf {
  using type = ThroughMemory<Part<G, "G", Real>, Generic<F, "F", cols, cols, Real, MemoryOfRows<Real>>>;
};
template <class Real, class Encoder, class Decoder>
struct EncoderDecoderOf {
  using type = EncoderDecoder<Part<Encoder, "E", Real>, Generic<Decoder, "D", cols, cols, Real, MemoryOfRows<Real>>>;
};

/// Whether F, or a part of it, reads a memory that F does not provide.
template <class F>
consteval bool reads_a_memory() {
  bool reads = requires { &F::reads::rows; };
  if constexpr (detail::HasParts<F> && !requires { typename F::provides; })
    F::parts([&]<class P>(std::size_t, P&) { reads = reads || reads_a_memory<P>(); }, detail::imaginary<F>);
  return reads;
}

/// F, or, if F reads a memory, F with one.
template <class F>
struct Provided {
  using type = F;
};
template <class F>
requires(reads_a_memory<F>()) struct Provided<F> {
  using type = WithMemory<F>;
};

/// A formula of generic parts for which these claims hold. If it reads a memory it is run with one.
template <template <class, class...> class Formula, class... Claims>
struct Made {
  template <class Real>
  using Layer = typename Formula<Real, Claims...>::type;
  template <class Real>
  using Runs = typename Provided<Layer<Real>>::type;
};

/// softmax(◺(Q(X)×K(X)ᵀ/c + b))×V(X) with generic parts, none of which is rowwise.
template <class Real, class Q, class K, class V>
struct AttentionOf {
  using type =
      Attention<1, Causal, Part<Q, "Q", Real>, Part<K, "K", Real>, Part<V, "V", Real>, GenericBias<Real>, block>;
};
/// softmax(Q(X)×Kᵀ/c)×V, where K and V come from a memory.
template <class Real, class Q, class K, class V>
struct CrossAttentionOf {
  using type = Attention<1, Unmasked, Part<Q, "Q", Real>, Part<K, "K", Real>, Part<V, "V", Real>, NoBias, block>;
};

/// The forms of the rules, made of generic parts, but kernels alone and attention with several heads. The calculus of
/// layers is checked on these.
inline constexpr std::tuple generic_formulas{
    Listed<Made<Itself, is::Autoregressive>::Runs>{"F"},
    Listed<Made<CompositionOf, is::Autoregressive, is::Autoregressive>::Runs>{"G∘F"},
    Listed<Made<StackOf, is::Autoregressive>::Runs>{"F_2∘F_1"},
    Listed<Made<ResOf, is::Autoregressive>::Runs>{"X + F(X)"},
    Listed<Made<ConcatOf, is::Autoregressive, is::Autoregressive>::Runs>{"Concat(F, G)"},
    Listed<Made<ProductOf, is::CausalKernel, is::Autoregressive>::Runs>{"A(X)×B(X)"},
    Listed<Made<AttentionOf, is::Autoregressive, is::Autoregressive, is::Autoregressive>::Runs>{
        "softmax(◺(Q(X)×K(X)ᵀ/c + b))×V(X)"},
    Listed<Made<ProductOf, OverMemory<is::Autoregressive>, is::Constant>::Runs>{"A(X)×B(M)"},
    Listed<Made<CrossAttentionOf, is::Autoregressive, is::Constant, is::Constant>::Runs>{"softmax(Q(X)×K(M)ᵀ/c)×V(M)"},
    Listed<Made<ThroughMemoryOf, is::Unrestricted, is::Autoregressive>::Runs>{"F(X; G(M))"},
    Listed<Made<TiedOf, is::Autoregressive>::Runs>{"F with a tied weight"},
};

}  // namespace tlm::proofs
