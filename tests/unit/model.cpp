// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "../layers.hpp"

namespace tlm::tests::in_model {

namespace {

/// The model over several sequences at once, against the article's formulas for each of them.
template <class T>
void compare(reference::Block block, double relative_tolerance) {
  Generator generator{1};
  const T model = random_layer<T>(generator);
  const Sequences lengths = Sequences::of_lengths({3, 1, max_len});
  const Tokens x = random_rows<Tokens>(lengths, generator);
  const auto Y = model(x);
  for (std::size_t s = 0; s < lengths.count(); ++s) {
    INFO((block == reference::Block::definition ? "by the definition" : "by the inspirational idea"));
    CAPTURE(s);
    const auto expected = reference::transformer_lm(weights_of(model), 2, n_heads, block, plain(sequence(x, s)));
    CHECK(distance(table(sequence(Y, s)), expected) <= relative_tolerance * scale(expected));
  }
}

}  // namespace

TEST_CASE("T_LM is Φ ∘ N ∘ DB_n ∘ … ∘ DB_1 ∘ PE ∘ Em") {
  compare<SmallLM<Block::definition>>(reference::Block::definition, 1e-12);
  compare<SmallLM<Block::inspirational>>(reference::Block::inspirational, 1e-12);
}

TEST_CASE("T_LM in float is the same up to rounding") {
  compare<SmallLM<Block::definition, float>>(reference::Block::definition, 1e-5);
  compare<SmallLM<Block::inspirational, float>>(reference::Block::inspirational, 1e-5);
}

TEST_CASE("the two blocks differ, and the comparison sees it") {
  const auto model = random_layer<SmallLM<Block::definition>>(Generator{1});
  const std::vector<Token> x{0, 3, 1};
  const auto other = reference::transformer_lm(weights_of(model), 2, n_heads, reference::Block::inspirational, x);
  CHECK(distance(table(model(Tokens{x})), other) > 1e-3);
}

TEST_CASE("weights are visited in the order of application, each under its path") {
  std::vector<std::string> paths;
  const SmallLM<Block::definition> model;
  for_each_weight([&](const Name& name, const auto&) { paths.push_back(name.path()); }, model);

  std::vector<std::string> expected{"Em.W_e", "PE.PE"};
  for (const std::string DB : {"DB_1.", "DB_2."})
    for (const char* weight : {"N_ca.a", "N_ca.b", "CA.W_Q", "CA.W_K", "CA.W_V", "CA.W_O", "CA.B",  //
                               "FF.N_ff.a", "FF.N_ff.b", "FF.A", "FF.K", "FF.B", "FF.L"})
      expected.push_back(DB + weight);
  for (const char* weight : {"N.a", "N.b", "Φ.Y", "Φ.B"}) expected.push_back(weight);
  CHECK(paths == expected);
}

TEST_CASE("objects of one type are visited together, weight by weight") {
  auto model = random_layer<SmallLM<Block::definition>>(Generator{1});
  const auto copy = model;
  CHECK(distance_of_weights(model, copy) == 0);
  for_each_weight([](const Name& name, auto& W, const auto& V) { W(0, 0) = V(0, 0) + (name.path() == "DB_2.FF.A"); },
                  model, copy);
  CHECK(distance_of_weights(model, copy) == doctest::Approx(1));
  CHECK(weights_of(model).at("DB_2.FF.A")(1, 1) == doctest::Approx(weights_of(copy).at("DB_2.FF.A")(1, 1) + 1));
}

}  // namespace tlm::tests::in_model
