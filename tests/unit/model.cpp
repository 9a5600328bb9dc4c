// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "../shapes.hpp"

namespace tlm::tests::in_model {

namespace {

/// The model over several sequences at once, against the article's formulas for each of them.
template <Block b>
void compare(reference::Block block) {
  Generator generator{1};
  const auto model = random_layer<SmallLM<b>>(generator);
  const Sequences lengths = Sequences::of_lengths({3, 1, max_len});
  const Tokens x = random_rows<Tokens>(lengths, generator);
  const auto Y = model(x);
  for (std::size_t s = 0; s < lengths.count(); ++s) {
    INFO((b == Block::definition ? "by the definition" : "by the inspirational idea"));
    CAPTURE(s);
    const auto expected = reference::transformer_lm(weights_of(model), 2, n_heads, block, plain(sequence(x, s)));
    CHECK(distance(table(sequence(Y, s)), expected) <= 1e-12 * scale(expected));
  }
}

}  // namespace

TEST_CASE("T_LM is Φ ∘ N ∘ DB_n ∘ … ∘ DB_1 ∘ PE ∘ Em") {
  compare<Block::definition>(reference::Block::definition);
  compare<Block::inspirational>(reference::Block::inspirational);
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
  for (const auto& weight : parameters(model)) paths.emplace_back(weight.path);

  std::vector<std::string> expected{"Em.W_e", "PE.PE"};
  for (const std::string DB : {"DB_1.", "DB_2."})
    for (const char* weight : {"N_ca.a", "N_ca.b", "CA.W_Q", "CA.W_K", "CA.W_V", "CA.W_O", "CA.B",  //
                               "FF.N_ff.a", "FF.N_ff.b", "FF.A", "FF.K", "FF.B", "FF.L"})
      expected.push_back(DB + weight);
  for (const char* weight : {"N.a", "N.b", "Φ.Y", "Φ.B"}) expected.push_back(weight);
  CHECK(paths == expected);
}

}  // namespace tlm::tests::in_model
