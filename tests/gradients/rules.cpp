// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "../layers.hpp"

using namespace tlm;
using namespace tlm::tests;

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
