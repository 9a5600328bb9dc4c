// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string_view>
#include <type_traits>

#include "../loss_gradient.hpp"
#include "models.hpp"

namespace tlm::tests::in_gradients {

namespace {

Translations batch() { return {sources(), Tokens{{1, 3, 2}, {0, 2, 2, 3}, {5, 4}}, 3}; }

/// A model in which the three places of W_e have weights of their own.
template <formulated::Config c>
struct UntiedDecoder
    : Composition<Times<"W_out", c.d_model, c.s, double>, Stack<formulated::DecoderLayer<c, double>, c.N>,
                  ConstantPositionalEncoding<c.max_len, c.d_model, double>, Embedding<c.s, c.d_model, double>> {
  static constexpr std::string_view symbol = "tgt";
};
template <formulated::Config c>
struct UntiedEncoder
    : Composition<Stack<formulated::EncoderLayer<c, double>, c.N>,
                  ConstantPositionalEncoding<c.max_len, c.d_model, double>, Embedding<c.s, c.d_model, double>> {
  static constexpr std::string_view symbol = "src";
};
using Untied = EncoderDecoder<UntiedEncoder<small_formulated>, UntiedDecoder<small_formulated>>;

}  // namespace

TEST_CASE_TEMPLATE("the gradient of the loss is the derivative, weight by weight", Model, SmallFormulated, NumpyToy,
                   SmallWolfram) {
  // Each by the objective of its source.
  Generator generator{1};
  auto model = random_layer<Model>(generator);
  must_be_derivative(model, batch(), std::conditional_t<std::is_same_v<Model, SmallFormulated>, Sum, Mean>{});
}

TEST_CASE("the notebook's toy of seed 13: its sources, its targets and null 0") {
  const Translations toy_batch{Tokens{{2, 0, 0, 6}, {2, 4, 9, 3}},
                               Tokens{{4, 2, 6, 5, 9, 4, 2, 0}, {3, 5, 3, 6, 5, 1, 2, 8}}, 0};
  Generator generator{13};
  auto model = random_layer<NumpyToy>(generator);
  must_be_derivative(model, toy_batch);
}

TEST_CASE("the gradient of the tied W_e is the sum over its three places") {
  Generator generator{3};
  const auto tied = random_layer<SmallFormulated>(generator);
  Untied untied;
  using EncoderLayers = Stack<formulated::EncoderLayer<small_formulated, double>, small_formulated.N>;
  using DecoderLayers = Stack<formulated::DecoderLayer<small_formulated, double>, small_formulated.N>;
  part<EncoderLayers>(untied) = part<EncoderLayers>(tied);
  part<DecoderLayers>(untied) = part<DecoderLayers>(tied);
  const auto& W_e = weight<"W_e">(tied);
  weight<"src.Em.W_e">(untied) = weight<"tgt.Em.W_e">(untied) = W_e;
  for (std::size_t i = 0; i < small_formulated.s; ++i)
    for (std::size_t k = 0; k < small_formulated.d_model; ++k) weight<"tgt.W_out">(untied)(k, i) = W_e(i, k);

  const auto X = SourceAndTarget<Tokens, Tokens>{sources(), targets()};
  const auto Z_bar = random_rows<SmallFormulated::codomain>(targets().sequences(), generator);
  SmallFormulated tied_gradient;
  Untied gradient;
  scores(tied).value_and_pullback(X).pullback(Z_bar, scores(tied_gradient));
  untied.value_and_pullback(X).pullback(Z_bar, gradient);
  auto sum = weight<"src.Em.W_e">(gradient) + weight<"tgt.Em.W_e">(gradient);
  for (std::size_t i = 0; i < small_formulated.s; ++i)
    for (std::size_t k = 0; k < small_formulated.d_model; ++k) sum(i, k) += weight<"tgt.W_out">(gradient)(k, i);
  CHECK(distance(weight<"W_e">(tied_gradient), sum) < 1e-12);
}

}  // namespace tlm::tests::in_gradients
