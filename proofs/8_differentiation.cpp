// Claim 8. Each pullback is the transpose of the derivative: ⟨J v, w⟩ = ⟨v, Jᵀ w⟩, where v ranges over inputs and weights
// together, J v is the derivative in the direction v, and Jᵀ w is what the pullback makes of w. It is linear in w; the
// pullback of G∘F is that of F after that of G; and for a causal layer it is anti-causal: dX_i depends on no dY_j with
// j < i. ReLU′(0) = 0 is the documented choice.
//
// J comes from dual numbers, whose rules know nothing of the pullbacks: T(X + vε) = T(X) + (J v)ε. Over dual numbers of
// the prime field the two sides are equal exactly, by the formal rules exp′ = exp, sqrt′ = 1/(2 sqrt), ReLU′ a function
// of its own.
//
// A gradient check cannot see a wrong mask (its derivative is right); these checks do not replace claims 2 to 5.

#include <doctest/doctest.h>

#include "checks.hpp"
#include "controls.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

/// Whether T's pullback is the transpose of its derivative, at random weights, inputs and directions, on a stack of
/// sequences of unequal lengths.
template <template <class> class Layer, class Real>
std::optional<Failure> transpose_fails(std::string_view name, std::uint64_t seed) {
  using T = Layer<Real>;
  using DualT = Layer<Dual<Real>>;
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto sequences = Sequences::of_lengths({3, 1, 4});
    Real J_v_w(0), v_JT_w(0);

    // A point and a direction in the weight space, and in the space of inputs.
    T layer, gradient, v_layer;
    DualT dual_layer;
    const auto set = [&](Real& point, Real& direction, Dual<Real>& both) {
      point = draw<Real>(generator);
      direction = draw<Real>(generator);
      both = {point, direction};
    };
    std::vector<Dual<Real>*> dual_weights;
    for_each_weight(
        [&](const Name&, auto& w) {
          for (std::size_t e = 0; e < w.size; ++e) dual_weights.push_back(w.data() + e);
        },
        dual_layer);
    auto next = dual_weights.begin();
    for_each_weight(
        [&]<class Weight>(const Name&, Weight& w, Weight& v) {
          for (std::size_t e = 0; e < Weight::size; ++e) set(w.data()[e], v.data()[e], **next++);
        },
        layer, v_layer);
    typename T::domain X{sequences}, v_X{sequences};
    typename DualT::domain dual_X{sequences};
    if constexpr (reads_tokens<T>)
      dual_X = X = draw_matrix<Tokens>(sequences, generator);
    else
      for (std::size_t e = 0; e < X.rows() * T::domain::cols; ++e) set(X.data()[e], v_X.data()[e], dual_X.data()[e]);

    const auto dual_Y = dual_layer(dual_X);
    const auto w = draw_matrix<typename T::codomain>(sequences, generator);
    for (std::size_t e = 0; e < w.rows() * T::codomain::cols; ++e) J_v_w += dual_Y.data()[e].tangent * w.data()[e];

    auto [Y, pullback] = layer.value_and_pullback(X);
    const auto dX = pullback(w, gradient);
    if constexpr (!reads_tokens<T>)
      for (std::size_t e = 0; e < X.rows() * T::domain::cols; ++e) v_JT_w += v_X.data()[e] * dX.data()[e];
    for_each_weight(
        [&]<class Weight>(const Name&, const Weight& v, const Weight& g) {
          for (std::size_t e = 0; e < Weight::size; ++e) v_JT_w += v.data()[e] * g.data()[e];
        },
        v_layer, gradient);

    if (agree(J_v_w, v_JT_w)) return std::nullopt;
    return Failure{"⟨Jv, w⟩ = ⟨v, Jᵀw⟩",
                   std::string(name),
                   arithmetic<Real>(),
                   sequences.rows(),
                   1,
                   1,
                   1,
                   shown(J_v_w),
                   shown(v_JT_w),
                   seed};
  });
}

/// Whether the pullback is linear: that of a·w₁ + w₂ is a times that of w₁ plus that of w₂.
template <template <class> class Layer>
bool is_linear(std::uint64_t seed) {
  using T = Layer<PrimeField>;
  return redrawing(seed, [](Generator& generator) {
    const auto layer = draw_layer<T>(generator);
    const auto sequences = Sequences::of_lengths({2, 3});
    const auto X = draw_matrix<typename T::domain>(sequences, generator);
    const auto w_1 = draw_matrix<typename T::codomain>(sequences, generator);
    const auto w_2 = draw_matrix<typename T::codomain>(sequences, generator);
    const PrimeField a = PrimeField::random(generator);
    auto combined = w_2;
    for (std::size_t e = 0; e < combined.rows() * T::codomain::cols; ++e) combined.data()[e] += a * w_1.data()[e];

    auto [Y, pullback] = layer.value_and_pullback(X);
    T gradient_1, gradient_2, gradient;
    const auto v_1 = pullback(w_1, gradient_1);
    const auto v_2 = pullback(w_2, gradient_2);
    const auto v = pullback(combined, gradient);
    bool linear = true;
    if constexpr (!reads_tokens<T>)
      for (std::size_t e = 0; e < X.rows() * T::domain::cols; ++e)
        linear = linear && v.data()[e] == a * v_1.data()[e] + v_2.data()[e];
    for_each_weight(
        [&]<class Weight>(const Name&, const Weight& g_1, const Weight& g_2, const Weight& g) {
          for (std::size_t e = 0; e < Weight::size; ++e)
            linear = linear && g.data()[e] == a * g_1.data()[e] + g_2.data()[e];
        },
        gradient_1, gradient_2, gradient);
    return linear;
  });
}

/// Whether dX_i depends on no dY_j with j < i, for every input and all weights of that shape.
template <class T>
bool is_anti_causal() {
  Generator generator{0};
  const auto layer = draw_layer<T>(generator);
  for (std::size_t n = 1; n <= greatest_n; ++n) {
    typename T::codomain dY{Sequences{n}};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < T::codomain::cols; ++j) dY(i, j) = Positions::codomain_position(i);
    T gradient;
    const auto dX = layer.value_and_pullback(tagged<typename T::domain>(Sequences{n})).pullback(dY, gradient);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < T::domain::cols; ++j)
        if (const std::uint64_t earlier = (std::uint64_t{1} << i) - 1; (dX(i, j).tags() >> 32 & earlier) != 0)
          return false;
  }
  return true;
}

/// ReLU with the sign of its pullback flipped.
template <class Real>
struct FlippedReLU : ReLu<Real> {
  auto value_and_pullback(typename ReLu<Real>::domain X) const {
    auto [Y, right] = ReLu<Real>::value_and_pullback(std::move(X));
    return with_pullback(std::move(Y),
                         [right = std::move(right)](typename ReLu<Real>::codomain dY, FlippedReLU& gradient) {
                           auto dX = right(std::move(dY), gradient);
                           for (std::size_t e = 0; e < dX.rows() * d_model; ++e) dX.data()[e] = -dX.data()[e];
                           return dX;
                         });
  }
};

/// A composite that contains it.
template <class Real>
using FlippedInside = Composition<N<Real>, Res<Composition<FlippedReLU<Real>, PlusK<Real>>>>;

/// G∘F whose pullback goes through F first.
template <class Real>
struct ForwardOrder : Composition<N<Real>, LN<Real>> {
  auto value_and_pullback(typename N<Real>::domain X) const {
    auto [F_X, F_pullback] = this->f.value_and_pullback(std::move(X));
    auto [Y, G_pullback] = this->g.value_and_pullback(std::move(F_X));
    return with_pullback(std::move(Y), [F_pullback = std::move(F_pullback), G_pullback = std::move(G_pullback)](
                                           typename N<Real>::codomain dY, ForwardOrder& gradient) {
      return G_pullback(F_pullback(std::move(dY), gradient.f), gradient.g);
    });
  }
};

}  // namespace

TEST_CASE("each pullback is the transpose of the derivative: exactly, over dual numbers of the prime field") {
  for_each_layer([]<template <class> class Layer>(Listed<Layer> listed) {
    for (const std::uint64_t key : {21u, 22u}) {
      PrimeField::key = key;
      const auto failure = transpose_fails<Layer, PrimeField>(listed.name, key);
      CHECK_MESSAGE(!failure, *failure);
    }
  });
}

TEST_CASE("each pullback is the transpose of the derivative: in double, within 1e-9") {
  for_each_layer([]<template <class> class Layer>(Listed<Layer> listed) {
    const auto failure = transpose_fails<Layer, double>(listed.name, 1);
    CHECK_MESSAGE(!failure, *failure);
  });
}

TEST_CASE("pullbacks are linear, and can be applied again") {
  for_each_layer(
      []<template <class> class Layer>(Listed<Layer> listed) { CHECK_MESSAGE(is_linear<Layer>(2), listed.name); });
}

TEST_CASE("the pullback of G∘F is that of F after that of G") {
  redrawing(3, [](Generator& generator) {
    using GF = Composition<N<PrimeField>, LN<PrimeField>>;
    const auto layer = draw_layer<GF>(generator);
    const auto X = draw_matrix<GF::domain>(Sequences{3}, generator),
               w = draw_matrix<GF::domain>(Sequences{3}, generator);
    auto [F_X, F_pullback] = layer.f.value_and_pullback(X);
    auto [Y, G_pullback] = layer.g.value_and_pullback(F_X);
    GF by_hand, gradient;
    const auto dX = F_pullback(G_pullback(w, by_hand.g), by_hand.f);
    CHECK(layer.value_and_pullback(X).pullback(w, gradient) == dX);
    return true;
  });
}

TEST_CASE("pullbacks of causal layers are anti-causal: dX_i depends on no dY_j with j < i") {
  for_each_layer([]<template <class> class Layer>(Listed<Layer> listed) {
    if constexpr (autoregressive<Layer<Positions>> && !reads_tokens<Layer<Positions>>)
      CHECK_MESSAGE(is_anti_causal<Layer<Positions>>(), listed.name);
  });
}

TEST_CASE("ReLU′(0) is 0, by choice; elsewhere there is none") {
  CHECK(relu_derivative(0.0) == 0);
  CHECK(relu_derivative(-0.0) == 0);
  CHECK(relu_derivative(1e-300) == 1);
  CHECK(relu_derivative(-1e-300) == 0);
}

TEST_CASE("control: a flipped sign is seen, in the layer and in composites that contain it") {
  CHECK(transpose_fails<FlippedReLU, PrimeField>("flipped ReLU", 21));
  CHECK(transpose_fails<FlippedReLU, double>("flipped ReLU", 1));
  CHECK(transpose_fails<FlippedInside, PrimeField>("N∘Res(flipped ReLU∘(+K))", 21));
  CHECK(transpose_fails<FlippedInside, double>("N∘Res(flipped ReLU∘(+K))", 1));
}

TEST_CASE("control: a composition whose pullback runs forwards is seen") {
  CHECK(transpose_fails<ForwardOrder, PrimeField>("forwards", 21));
}

TEST_CASE("control: attention that sees one row of the future is not anti-causal, though its pullback is a transpose") {
  CHECK(!is_anti_causal<OffByOneMask<Positions>>());
  CHECK(!is_anti_causal<MH<Positions>>());
  CHECK(!transpose_fails<OffByOneMask, PrimeField>("a mask j ≤ min(i+1, n)", 21));
}
