// SPDX-License-Identifier: MIT
// The encoder–decoders in double: the NumPy notebook's toy, and a small formulated and a small Wolfram one.
#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../proofs/support.hpp"
#include "../shapes.hpp"

namespace tlm::tests::in_models {

namespace {

constexpr numpy::Config toy{.src_vocab_size = 10, .tgt_vocab_size = 10, .max_len = 9};  // D 4, M 3, h 5, 2+2
using NumpyToy = numpy::Transformer<toy, double>;

constexpr formulated::Config small_formulated{
    .s = 7, .d_model = 6, .d_ff = 10, .d_k = 3, .d_v = 2, .h = 4, .N = 2, .max_len = 9};
using SmallFormulated = formulated::Transformer<small_formulated, double>;

constexpr wolfram::Config small_wolfram{
    .src_vocab_size = 8, .tgt_vocab_size = 7, .d = 6, .heads = 3, .blocks = 2, .max_len = 9};
using SmallWolfram = wolfram::Transformer<small_wolfram, double>;
constexpr wolfram::Config with_sines = [] {
  wolfram::Config c = small_wolfram;
  c.positions = wolfram::Positions::sinusoidal;
  return c;
}();
using WolframWithSines = wolfram::Transformer<with_sines, double>;

/// Sources and targets of unequal lengths, of a single token among them.
Tokens sources() { return {{1, 2, 3}, {4}, {3, 6, 0, 1, 2}}; }
Tokens targets() { return {{1, 3}, {0, 2, 2, 3}, {5}}; }

// CausalAttention is an instance of MultiHead.
static_assert(std::is_base_of_v<Composition<Plus<"B", 8>, MultiHead<8, 2, 4, 4, Causal>>, CausalAttention<8, 2>>);

/// A model with random weights, compared with expected(weights, x, y), its scores by plain loops: one by one, and as a
/// stack of unequal lengths.
template <class Model, class Expected>
void compare(const Expected& expected) {
  const auto model = random_layer<Model>(Generator{1});
  const auto w = weights_of(model);
  const auto stacked = before_softmax(model)({sources(), targets()});
  for (std::size_t s = 0; s < 3; ++s) {
    CAPTURE(s);
    const auto x = sequence(sources(), s), y = sequence(targets(), s);
    const auto Z = expected(w, plain(x), plain(y));
    CHECK(distance(table(before_softmax(model)({x, y})), Z) < 1e-12);
    CHECK(distance(table(sequence(stacked, s)), Z) < 1e-12);
    if constexpr (!std::is_same_v<Model, NumpyToy>)
      CHECK(distance(table(model({x, y})), reference::softmax(Z)) < 1e-12);
  }
}

using reference::Weights;
using Said = std::vector<Token>;

/// Cross-attention.
using Cross = MultiHead<4, 2, 3, 2, Unmasked, FromMemory, double>;

}  // namespace

TEST_CASE("the formulated model equals its plain loops, one by one and as a stack of unequal lengths") {
  compare<SmallFormulated>([](const Weights& w, const Said& x, const Said& y) {
    return reference::formulated_scores(w, small_formulated.N, small_formulated.h, x, y);
  });
}

TEST_CASE("the NumPy notebook's model equals its plain loops, one by one and as a stack of unequal lengths") {
  compare<NumpyToy>([](const Weights& w, const Said& x, const Said& y) {
    return reference::numpy_scores(w, toy.n_enc, toy.n_dec, toy.h, x, y);
  });
}

TEST_CASE_TEMPLATE("the Wolfram article's model equals its plain loops, one by one and as a stack of unequal lengths",
                   Model, SmallWolfram, WolframWithSines) {
  compare<Model>([](const Weights& w, const Said& x, const Said& y) {
    return reference::wolfram_scores(w, small_wolfram.blocks, small_wolfram.heads, std::is_same_v<Model, SmallWolfram>,
                                     x, y);
  });
}

TEST_CASE(
    "with one head, one row of X and no mask, Attention is the Wolfram article's single query attention, line by "
    "line") {
  constexpr std::size_t d_in = 3, d_attn = 4, d_out = 2;
  using Keys = Affine<"W_k", "b_k", d_in, d_attn, double>;
  using Values = Affine<"W_v", "b_v", d_in, d_out, double>;
  using Single =
      Attention<1, Unmasked, Affine<"W_q", "b_q", d_in, d_attn, double>, FromMemory<Keys>, FromMemory<Values>>;
  using Rows = Matrix<n, d_in, double>;
  Generator generator{4};
  const auto layer = random_layer<Single>(generator);
  const auto w = weights_of(layer);
  const auto affine = [&](const Rows& X, const char* W, const char* b) {
    return reference::sum(reference::product(table(X), w.at(W)), w.at(b));
  };
  for (std::size_t T = 1; T <= 5; ++T) {
    CAPTURE(T);
    const auto e = random_rows<Rows>(Sequences{1}, generator), context = random_rows<Rows>(Sequences{T}, generator);
    const auto q = affine(e, "W_q", "b_q"), k = affine(context, "W_k", "b_k"), v = affine(context, "W_v", "b_v");
    const auto weights = reference::softmax(reference::scores(q, k));
    CHECK(distance(table(layer(e, Memory<Rows>{context})), reference::product(weights, v)) < 1e-12);
  }
}

TEST_CASE("the keys and values of cross-attention are computed once") {
  Generator generator{9};
  const auto layer = random_layer<Cross>(generator);
  const Memory<Cross::domain> memory{random_rows<Cross::domain>(Sequences{3}, generator)};
  State<Cross> state;
  for (int row = 0; row < 4; ++row) {
    CAPTURE(row);
    advance(layer, state, random_rows<Cross::domain>(Sequences{1}, generator), memory);
    CHECK(state.rows.f.rows.keys.sequences().rows() == 3);
  }
}

TEST_CASE_TEMPLATE("what is refused as the first rows of a target, and later", Model, SmallFormulated, NumpyToy,
                   SmallWolfram) {
  const auto model = random_layer<Model>(Generator{10});
  State<Model> state;
  const auto next = [&](const typename Model::domain& pair) {
    State<Model> copy = state;
    advance(model, copy, pair);
  };
  const Tokens x = sources(), one_each = targets() | 1;
  const Tokens too_long{Sequences::of_lengths({1, 10, 1}), 1}, unknown{Sequences::of_lengths({1, 1, 1}), 99};
  CHECK_THROWS_WITH(next({x, Tokens{1}}), "a memory of 3 sequences does not serve 1 targets");
  CHECK_THROWS_WITH(next({Tokens{Sequences::of_lengths({1, 0, 1}), 1}, one_each}),
                    "sequence 2 of the memory is empty: attention needs a row to look at");
  CHECK_THROWS_AS(next({x, unknown}), std::out_of_range);
  CHECK_THROWS_AS(next({unknown, one_each}), std::out_of_range);
  CHECK_THROWS_AS(next({x, too_long}), std::length_error);

  advance(model, state, {x, one_each});
  CHECK_NOTHROW(next({unknown, one_each}));  // the source is not looked at any more
  CHECK_THROWS_WITH(next({x, Tokens{1}}), "a memory of 3 sequences does not serve 1 targets");
  CHECK_THROWS_AS(next({x, unknown}), std::out_of_range);
  CHECK_THROWS_AS(next({x, too_long}), std::length_error);
}

TEST_CASE("a memory without rows is refused wherever it is read, also beside a target without rows") {
  constexpr const char* sentence = "sequence 2 of the memory is empty: attention needs a row to look at";
  Generator generator{15};
  const auto layer = random_layer<Cross>(generator);
  const Memory<Cross::domain> memory{random_rows<Cross::domain>(Sequences::of_lengths({3, 0}), generator)};
  for (const std::size_t rows_of_the_second : {1u, 0u}) {
    CAPTURE(rows_of_the_second);
    const auto X = random_rows<Cross::domain>(Sequences::of_lengths({2, rows_of_the_second}), generator);
    State<Cross> state;
    CHECK_THROWS_WITH_AS(layer(X, memory), sentence, std::invalid_argument);
    CHECK_THROWS_WITH_AS(layer.value_and_pullback(X, memory), sentence, std::invalid_argument);
    CHECK_THROWS_WITH_AS(advance(layer, state, X, memory), sentence, std::invalid_argument);
  }
}

TEST_CASE("the order of weights, in which a seed draws them: the tied one, the encoder's, the decoder's") {
  using Paths = std::vector<std::string>;
  const auto add_two_layers = [](Paths& paths, const std::string& layer, const Paths& of_attention,
                                 const Paths& parts) {
    for (const char* number : {"1.", "2."})
      for (const std::string& part : parts) {
        const bool is_norm = part.starts_with("norm_") || part.starts_with("LayerNorm");
        for (const std::string& letter : is_norm         ? Paths{"γ", "β"}
                                         : part == "FFN" ? Paths{"W_1", "b_1", "W_2", "b_2"}
                                                         : of_attention)
          paths.push_back(layer + number + part + "." + letter);
      }
  };
  const Paths W{"W_Q", "W_K", "W_V", "W_O"}, QKVW{"Q", "K", "V", "W"};
  Paths formulated_paths{"W_e"}, numpy_paths{"src.Em.W_e", "src.PE.PE"};
  add_two_layers(formulated_paths, "Encoder_", W, {"MultiHead", "LayerNorm'", "FFN", "LayerNorm"});
  add_two_layers(formulated_paths, "Decoder_", W,
                 {"MaskedMultiHead", "LayerNorm'", "MultiHead", "LayerNorm''", "FFN", "LayerNorm"});
  CHECK(formulated_paths.size() == detail::weight_list<SmallFormulated>.size());
  CHECK(not_drawn_in_this_order<SmallFormulated>(formulated_paths) == "");

  add_two_layers(numpy_paths, "src.enc_", QKVW, {"self", "norm_self", "FFN", "norm_ff"});
  numpy_paths.insert(numpy_paths.end(), {"tgt.Em.W_e", "tgt.PE.PE"});
  add_two_layers(numpy_paths, "tgt.dec_", QKVW, {"self", "norm_self", "cross", "norm_cross", "FFN", "norm_ff"});
  numpy_paths.insert(numpy_paths.end(), {"tgt.W", "tgt.b"});
  CHECK(numpy_paths.size() == detail::weight_list<NumpyToy>.size());
  CHECK(not_drawn_in_this_order<NumpyToy>(numpy_paths) == "");
}

TEST_CASE("no weight stands still after the Glorot initialisation: every gradient has an entry that is not 0") {
  const auto check = [](auto model, const auto& batch) {
    Generator generator{11};
    initialize_glorot(model, generator);
    auto gradient = decltype(model){};
    loss_and_gradient(model, batch, gradient);
    for (const auto& W_bar : parameters(gradient)) {
      const bool moves = std::any_of(W_bar.begin(), W_bar.end(), [](double w) { return w < 0 || w > 0; });
      CHECK_MESSAGE(moves, notation<decltype(model)>().text, ": ", std::string(W_bar.path));
    }
  };
  const Translations batch{sources(), Tokens{{1, 3, 2}, {0, 2, 2, 3}, {5, 4}}};
  check(SmallFormulated{}, batch);
  check(NumpyToy{}, batch);
  check(TransformerLM<Config{.vocab_size = 7, .d_model = 8, .d_ff = 12, .n_layers = 2, .n_heads = 2, .max_len = 7},
                      double>{},
        unweighted<double>(0, sources()));
}

TEST_CASE("the loss: a sum for the formulated model, a mean over non-null targets for the notebook's") {
  Generator generator{6};
  const auto formulated_model = random_layer<SmallFormulated>(generator);
  const auto numpy_model = random_layer<NumpyToy>(generator);
  const Tokens x{3, 1}, y{1, 5, 0, 2};
  const auto log_p = [](const auto& Z, std::size_t i, Token token) { return log_softmax(Z)(i, std::size_t(token)); };
  const Tokens read{1, 5, 0};
  const auto f = before_softmax(formulated_model)({x, read});
  CHECK(loss(formulated_model, Translations{x, y}, Sum{}) ==
        doctest::Approx(-log_p(f, 0, 5) - log_p(f, 1, 0) - log_p(f, 2, 2)).epsilon(1e-13));
  const auto g = numpy_model({x, read});
  CHECK(loss(numpy_model, Translations{x, y, 0}) ==
        doctest::Approx(-(log_p(g, 0, 5) + log_p(g, 2, 2)) / 2).epsilon(1e-13));
  CHECK(loss(numpy_model, Translations{x, y}) ==
        doctest::Approx(-(log_p(g, 0, 5) + log_p(g, 1, 0) + log_p(g, 2, 2)) / 3).epsilon(1e-13));
}

TEST_CASE_TEMPLATE("the gradient of the loss is the derivative, weight by weight", Model, SmallFormulated, NumpyToy,
                   SmallWolfram) {
  // Each by the objective of its source.
  const Translations batch{sources(), Tokens{{1, 3, 2}, {0, 2, 2, 3}, {5, 4}}, 3};
  auto model = random_layer<Model>(Generator{1});
  must_be_derivative(model, batch, std::conditional_t<std::is_same_v<Model, SmallFormulated>, Sum, Mean>{});
}

TEST_CASE("what cannot be learned is refused by the loss and by its gradient alike, which is left as it was") {
  Generator generator{16};
  const auto model = random_layer<NumpyToy>(generator);
  auto gradient = random_layer<NumpyToy>(generator);
  const auto before = gradient;
  const std::string is_not =
                        ", to be predicted at position 3 of sequence 1, is not in the vocabulary: tokens are 0 to 9",
                    too_short = " tokens: a target needs the start token and one more, at least 2";
  // The last token of a target is predicted and never read, so the model does not refuse it.
  for (const auto& [batch, sentence] :
       {std::pair<Translations, std::string>{{Tokens{1}, Tokens{1, 2, 10}}, "token 10" + is_not},
        {{Tokens{1}, Tokens{1, 2, -1}}, "token -1" + is_not},
        {{Tokens{1}, Tokens{1, 0, 0}, 0}, "the loss weights of a batch sum to 0: no token counts"},
        {{Tokens{1}, targets()}, "1 sources cannot have 3 targets"},
        {{}, "a batch needs at least one translation; this one is empty"},
        {{Tokens{1}, Tokens{1}}, "target 1 has 1" + too_short},
        {{Tokens{{1, 2}, {}, {5}}, Tokens{{0, 2, 1}, {0, 3}, {}}}, "target 3 has 0" + too_short}}) {
    CHECK_THROWS_WITH(loss(model, batch), sentence.c_str());
    CHECK_THROWS_WITH(loss_and_gradient(model, batch, gradient), sentence.c_str());
    CHECK(distance_of_weights(gradient, before) == 0);
  }
}

TEST_CASE("bad input: one sentence each") {
  const NumpyToy model;
  CHECK_THROWS_WITH(model({sources(), Tokens{1}}), "a memory of 3 sequences does not serve 1 targets");
  CHECK_THROWS_WITH(decode(model, {}, {1, 2, 9}), "the source is empty: the decoder has nothing to look at");
}

}  // namespace tlm::tests::in_models
