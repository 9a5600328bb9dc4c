// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "../../proofs/support.hpp"
#include "models.hpp"

namespace tlm::tests::in_gradients {

using proofs::must_hold;

namespace {

/// The gradient of a model's loss against central differences, weight by weight.
template <class Model, class Objective>
std::optional<Failure> loss_gradient_fails(const Translations& batch, std::uint64_t seed, const Objective& objective) {
  const std::string of = std::is_same_v<Model, NumpyToy>       ? "the NumPy notebook's model"
                         : std::is_same_v<Model, SmallWolfram> ? "the Wolfram article's model"
                                                               : "the formulated model";
  const std::string object = of + (std::is_same_v<Objective, Sum> ? ", by Sum" : ", by Mean");
  INFO(object, ", seed ", seed);
  Generator generator{seed};
  auto model = random_layer<Model>(generator);
  Model gradient;
  const double value = loss_and_gradient(model, batch, gradient, objective);
  CHECK(value == loss(model, batch, objective));
  return checking::gradient_differs(
      object, [&] { return loss(model, batch, objective); }, model, gradient, seed);
}

Translations batch() {
  return {sources(), concat_sequences<1, Token>({Tokens{1, 3, 2}, Tokens{0, 2, 2, 3}, Tokens{5, 4}}), 3};
}

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
  must_hold(
      loss_gradient_fails<Model>(batch(), 1, std::conditional_t<std::is_same_v<Model, SmallFormulated>, Sum, Mean>{}));
}

TEST_CASE("the notebook's toy of seed 13: its sources, its targets and null 0") {
  const Translations toy_batch{
      concat_sequences<1, Token>({Tokens{2, 0, 0, 6}, Tokens{2, 4, 9, 3}}),
      concat_sequences<1, Token>({Tokens{4, 2, 6, 5, 9, 4, 2, 0}, Tokens{3, 5, 3, 6, 5, 1, 2, 8}}), 0};
  must_hold(loss_gradient_fails<NumpyToy>(toy_batch, 13, Mean{}));
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
