// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

#include "../layers.hpp"

using namespace tlm;
using namespace tlm::tests;

namespace {

/// a·X + b·Y.
template <class M>
M combination(double a, const M& X, double b, const M& Y) {
  M sum = X;
  for (std::size_t e = 0; e < X.rows() * M::cols; ++e) sum.data()[e] = a * X.data()[e] + b * Y.data()[e];
  return sum;
}
Nothing combination(double, Nothing, double, Nothing) { return {}; }
double distance(Nothing, Nothing) { return 0; }

}  // namespace

TEST_CASE_TEMPLATE_DEFINE("a pullback is linear, adds to the gradient, and can be applied again", F, linear) {
  INFO("of ", name_of<F>());
  Generator generator{1};
  const F layer = random_layer<F>(generator);
  const auto X = random_rows<typename F::domain>(unequal(), generator);
  const auto U = random_rows<typename F::codomain>(unequal(), generator);
  const auto V = random_rows<typename F::codomain>(unequal(), generator);
  const auto result = layer.value_and_pullback(X);

  // U, then V onto it, then both at once: 2U − 3V.
  F gradient, of_U, both;
  const auto X_bar_U = result.pullback(U, gradient);
  of_U = gradient;
  const auto X_bar_V = result.pullback(V, gradient);
  const auto X_bar = result.pullback(combination(2, U, -3, V), both);
  CHECK(distance(X_bar, combination(2, X_bar_U, -3, X_bar_V)) <= 1e-11);

  // gradient − of_U is V's part, so that `both` is 2·of_U − 3·(gradient − of_U) = 5·of_U − 3·gradient.
  for_each_weight(
      [](const Name& name, const auto& W_bar, const auto& W_bar_U, const auto& W_bar_both) {
        CAPTURE(name.path());
        CHECK(distance(W_bar_both, combination(5, W_bar_U, -3, W_bar)) <= 1e-11);
      },
      std::as_const(gradient), std::as_const(of_U), std::as_const(both));

  // U once more is the same once more, to the last bit.
  F again;
  CHECK(distance(result.pullback(U, again), X_bar_U) == 0);
  CHECK(distance_of_weights(again, of_U) == 0);
}
TEST_CASE_TEMPLATE_APPLY(linear, LayersInDouble);

namespace {

/// The identity, which writes down when it is applied and when it is pulled back.
std::string order;
template <char name>
struct Witness {
  using declared = is::Rowwise;
  using domain = Matrix<n, 1, double>;
  using codomain = domain;
  codomain operator()(domain X) const { return X; }
  auto value_and_pullback(domain X) const {
    order += name;
    return with_pullback(std::move(X), [](codomain Y_bar, Witness&) {
      order += char(name - 'A' + 'a');
      return Y_bar;
    });
  }
  static constexpr void weights(auto&&, auto&...) {}
};

}  // namespace

TEST_CASE("G ∘ F is applied from the right and pulled back from the left") {
  const auto order_of = []<class T>(const T& layer) {
    order.clear();
    T gradient;
    layer.value_and_pullback({1}).pullback(Matrix<n, 1, double>{1}, gradient);
    return order;
  };
  CHECK(order_of(Composition<Witness<'C'>, Witness<'B'>, Witness<'A'>>{}) == "ABCcba");
  CHECK(order_of(Composition<Composition<Witness<'C'>, Witness<'B'>>, Witness<'A'>>{}) == "ABCcba");
  CHECK(order_of(Composition<Witness<'B'>, Res<Witness<'A'>>>{}) == "ABba");
  CHECK(order_of(Stack<Composition<Witness<'B'>, Witness<'A'>>, 2>{}) == "ABABbaba");
}

TEST_CASE("the pullback of X×A×B is Ȳ×Bᵀ×Aᵀ, not the other way round") {
  using A = Times<"A", 3, 3, double>;
  using B = Times<"B", 3, 3, double>;
  Generator generator{1};
  const auto layer = random_layer<Composition<B, A>>(generator);
  const auto X = random_rows<Matrix<n, 3, double>>(Sequences{2}, generator);
  const auto Y_bar = random_rows<Matrix<n, 3, double>>(Sequences{2}, generator);
  Composition<B, A> gradient;
  const auto X_bar = layer.value_and_pullback(X).pullback(Y_bar, gradient);
  const auto& W_A = weight<"A">(layer);
  const auto& W_B = weight<"B">(layer);
  CHECK(distance(X_bar, (Y_bar * transposed(W_B)) * transposed(W_A)) <= 1e-14);
  CHECK(distance(X_bar, (Y_bar * transposed(W_A)) * transposed(W_B)) > 1e-3);
}

namespace {

/// X×W by the name F, so that the layers of a Stack are F_1, F_2, …
struct NamedF : Times<"W", 2, 2, double> {
  static constexpr std::string_view symbol = "F";
};

}  // namespace

TEST_CASE("every layer of a Stack has weights of its own, and its own gradient") {
  using F = Stack<NamedF, 2>;
  F layer;
  weight<"F_1.W">(layer) = {1, 2, 3, 4};
  weight<"F_2.W">(layer) = {5, 6, 7, 8};
  F gradient;
  layer.value_and_pullback({1, 0}).pullback(Matrix<n, 2, double>{1, 0}, gradient);
  // F_2's input is X×W_1 = (1, 2); what comes back to F_1's output is Ȳ×W_2ᵀ = (5, 7).
  CHECK(weight<"F_2.W">(gradient) == Matrix<2, 2, double>{1, 0, 2, 0});
  CHECK(weight<"F_1.W">(gradient) == Matrix<2, 2, double>{5, 7, 0, 0});
}
