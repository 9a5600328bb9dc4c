// SPDX-License-Identifier: MIT
#include "models.hpp"

#include <doctest/doctest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/derivation/notation.hpp>

#include "reference.hpp"

namespace tlm::tests::in_models {

namespace {

/// The number of weights of all layers with the symbol `layer`, in their parts whose symbol begins with `part`.
template <class Model>
consteval std::size_t count_in(std::string_view layer, std::string_view part) {
  std::size_t sum = 0;
  for (const detail::KnownWeight& weight : detail::known_weights<Model>) {
    const std::string_view within = weight.path.substr(weight.path.find('.') + 1);
    if (weight.path.starts_with(layer) && within.starts_with(part)) sum += weight.rows * weight.cols;
  }
  return sum;
}

}  // namespace

// "The Formulated Transformer", "Parameters": each line of its table of counts, and the sum.
using Paper = formulated::Transformer<formulated::Config{.s = 37'000}>;
constexpr formulated::Config paper = Paper::config;
namespace counts {
constexpr std::size_t s = paper.s, d_model = paper.d_model, d_ff = paper.d_ff, d_k = paper.d_k, d_v = paper.d_v,
                      h = paper.h, N = paper.N;
// embeddings
static_assert(count_in<Paper>("W_e", "") == s * d_model);
// encoder MultiHeads
static_assert(count_in<Paper>("Encoder", "MultiHead") ==
              N * (h * (d_model * d_k + d_model * d_k + d_model * d_v) + h * d_v * d_model));
// encoder FFNets
static_assert(count_in<Paper>("Encoder", "FFN") == N * (d_model * d_ff + d_ff + d_ff * d_model + d_model));
// encoder LayerNorms
static_assert(count_in<Paper>("Encoder", "LayerNorm") == N * (d_model + d_model + d_model + d_model));
// decoder MaskedMultiHeads
static_assert(count_in<Paper>("Decoder", "MaskedMultiHead") ==
              N * (h * (d_model * d_k + d_model * d_k + d_model * d_v) + h * d_v * d_model));
// decoder MultiHeads
static_assert(count_in<Paper>("Decoder", "MultiHead") ==
              N * (h * (d_model * d_k + d_model * d_k + d_model * d_v) + h * d_v * d_model));
// decoder FFNets
static_assert(count_in<Paper>("Decoder", "FFN") == N * (d_model * d_ff + d_ff + d_ff * d_model + d_model));
// decoder LayerNorms
static_assert(count_in<Paper>("Decoder", "LayerNorm") ==
              N * (d_model + d_model + d_model + d_model + d_model + d_model));
// their sum: W_e counts once for its three places, and W_p is not counted
static_assert(parameter_count<Paper> == 63'045'632);
static_assert(count_in<Paper>("W_e", "") + count_in<Paper>("Encoder", "") + count_in<Paper>("Decoder", "") ==
              63'045'632);
}  // namespace counts
static_assert(parameter_count<ConstantPositionalEncoding<paper.max_len, paper.d_model>> == 0);

using WolframWithSines = wolfram::Transformer<wolfram::Config{.src_vocab_size = 8,
                                                              .tgt_vocab_size = 7,
                                                              .d = 6,
                                                              .heads = 3,
                                                              .blocks = 2,
                                                              .max_len = 9,
                                                              .positions = wolfram::Positions::sinusoidal},
                                              double>;

// CausalAttention is an instance of MultiHead.
static_assert(std::is_base_of_v<Composition<Plus<"B", 8>, MultiHead<8, 2, 4, 4, Causal>>, CausalAttention<8, 2>>);

namespace {

/// A model with random weights, compared with expected(weights, x, y), its scores by plain loops: one by one, and as a
/// stack of unequal lengths.
template <class Model, class Expected>
void compare(const Expected& expected) {
  Generator generator{1};
  const auto model = random_layer<Model>(generator);
  const auto w = weights_of(model);
  const auto stacked = scores(model)({sources(), targets()});
  for (std::size_t s = 0; s < 3; ++s) {
    CAPTURE(s);
    const auto x = sequence(sources(), s), y = sequence(targets(), s);
    const auto Z = expected(w, plain(x), plain(y));
    CHECK(distance(table(scores(model)({x, y})), Z) < 1e-12);
    CHECK(distance(table(sequence(stacked, s)), Z) < 1e-12);
    if constexpr (!std::is_same_v<Model, NumpyToy>)
      CHECK(distance(table(model({x, y})), reference::softmax(Z)) < 1e-12);
  }
}

using reference::Weights;
using Said = std::vector<Token>;

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
  using Cross = MultiHead<4, 2, 3, 2, Unmasked, FromMemory, double>;
  using Rows = Matrix<n, 4, double>;
  Generator generator{9};
  const auto layer = random_layer<Cross>(generator);
  const Memory<Rows> memory{random_rows<Rows>(Sequences{3}, generator)};
  State<Cross> state;
  for (int row = 0; row < 4; ++row) {
    CAPTURE(row);
    extend(layer, state, random_rows<Rows>(Sequences{1}, generator), memory);
    CHECK(state.rows.f.rows.KV.sequences().rows() == 3);
  }
}

TEST_CASE_TEMPLATE("a refused extension leaves the state as it was: the right one gives the rows of the whole", Model,
                   SmallFormulated, NumpyToy, SmallWolfram) {
  Generator generator{10};
  const auto model = random_layer<Model>(generator);
  const Tokens x = sources(), y = targets();
  const Tokens one_each = y | 1;
  const Tokens the_others{{3}, {2, 2, 3}, {}};
  const auto whole = model({x, y});
  const Tokens too_long{Sequences::of_lengths({1, 10, 1}), 1};
  const Tokens other_x{{5, 5}, {0, 1, 2}, {6}};

  State<Model> state;
  // At first: other numbers of sequences, a source without a row, tokens outside of the vocabulary, a target that is
  // too long. The sources that come with them are others, and none of them may be kept.
  CHECK_THROWS_WITH(extend(model, state, {other_x, Tokens{1}}), "a memory of 3 sequences does not serve 1 targets");
  CHECK_THROWS_WITH(extend(model, state, {Tokens{Sequences::of_lengths({1, 0, 1}), 1}, one_each}),
                    "sequence 2 of the memory is empty: attention needs a row to look at");
  CHECK_THROWS_AS(extend(model, state, {other_x, Tokens{Sequences::of_lengths({1, 1, 1}), 99}}), std::out_of_range);
  CHECK_THROWS_AS(extend(model, state, {Tokens{Sequences::of_lengths({1, 1, 1}), 99}, one_each}), std::out_of_range);
  CHECK_THROWS_AS(extend(model, state, {other_x, too_long}), std::length_error);
  const auto first = extend(model, state, {x, one_each});
  for (std::size_t s = 0; s < 3; ++s) {
    CAPTURE(s);
    CHECK(distance(sequence(first, s), rows(sequence(whole, s), 0, 1)) < 1e-12);
  }

  // Later the same; the source is not looked at any more.
  CHECK_THROWS_WITH(extend(model, state, {x, Tokens{1}}), "a memory of 3 sequences does not serve 1 targets");
  CHECK_THROWS_AS(extend(model, state, {x, Tokens{Sequences::of_lengths({1, 1, 1}), 99}}), std::out_of_range);
  CHECK_THROWS_AS(extend(model, state, {x, too_long}), std::length_error);
  const auto later = extend(model, state, {Tokens{}, the_others});
  CHECK(later.sequences() == the_others.sequences());
  CHECK(distance(sequence(later, 0), rows(sequence(whole, 0), 1, 1)) < 1e-12);
  CHECK(distance(sequence(later, 1), rows(sequence(whole, 1), 1, 3)) < 1e-12);
}

TEST_CASE("a refused extension of cross-attention leaves its state as it was: the memory that is right is then read") {
  using Cross = MultiHead<4, 2, 3, 2, Unmasked, FromMemory, double>;
  using Rows = Matrix<n, 4, double>;
  Generator generator{14};
  const auto layer = random_layer<Cross>(generator);
  const auto X = random_rows<Rows>(Sequences::of_lengths({2, 1}), generator);
  const Memory<Rows> memory{random_rows<Rows>(Sequences::of_lengths({1, 3}), generator)};
  const Memory<Rows> of_one{random_rows<Rows>(Sequences{4}, generator)};
  State<Cross> state;
  CHECK_THROWS_WITH(extend(layer, state, X, of_one), "a memory of 1 sequences does not serve 2 targets");
  CHECK(extend(layer, state, X, memory) == layer(X, memory));
  // Later rows of other sequences are refused, and those that are right see what was read.
  CHECK_THROWS_AS(extend(layer, state, Rows{Sequences::of_lengths({1, 1, 1}), 1.0}, memory), std::invalid_argument);
  CHECK(extend(layer, state, X, memory) == layer(X, memory));
}

TEST_CASE("a memory without rows is refused wherever it is read, also beside a target without rows") {
  using Cross = MultiHead<4, 2, 3, 2, Unmasked, FromMemory, double>;
  using Rows = Matrix<n, 4, double>;
  constexpr const char* sentence = "sequence 2 of the memory is empty: attention needs a row to look at";
  Generator generator{15};
  const auto layer = random_layer<Cross>(generator);
  const Memory<Rows> memory{random_rows<Rows>(Sequences::of_lengths({3, 0}), generator)};
  for (const std::size_t rows_of_the_second : {1u, 0u}) {
    CAPTURE(rows_of_the_second);
    const auto X = random_rows<Rows>(Sequences::of_lengths({2, rows_of_the_second}), generator);
    State<Cross> state;
    CHECK_THROWS_WITH_AS(layer(X, memory), sentence, std::invalid_argument);
    CHECK_THROWS_WITH_AS(layer.value_and_pullback(X, memory), sentence, std::invalid_argument);
    CHECK_THROWS_WITH_AS(extend(layer, state, X, memory), sentence, std::invalid_argument);
  }

  // A source without tokens makes such a memory, in the models as in their losses.
  const Tokens x{{1, 2}, {}}, y{Sequences::of_lengths({2, 2}), 1};
  const auto refuses = [&]<class Model>(Model model) {
    const Translations batch{x, y};
    Model gradient;
    CHECK_THROWS_WITH_AS(model({x, y}), sentence, std::invalid_argument);
    CHECK_THROWS_WITH_AS(scores(model).value_and_pullback({x, y}), sentence, std::invalid_argument);
    CHECK_THROWS_WITH_AS(loss(model, batch), sentence, std::invalid_argument);
    CHECK_THROWS_WITH_AS(loss_and_gradient(model, batch, gradient), sentence, std::invalid_argument);
  };
  refuses(random_layer<SmallFormulated>(generator));
  refuses(random_layer<NumpyToy>(generator));
}

TEST_CASE("the order of weights, in which a seed draws them: the tied one, the encoder's, the decoder's") {
  using Letters = std::vector<const char*>;
  using Parts = std::vector<std::pair<const char*, Letters>>;
  std::vector<std::string> formulated_paths{"W_e"}, numpy_paths{"src.Em.W_e", "src.PE.PE"};
  const auto add_two_layers = [](std::vector<std::string>& paths, const std::string& layer, const Parts& parts) {
    for (const char* number : {"1.", "2."})
      for (const auto& [part, letters] : parts)
        for (const char* letter : letters) paths.push_back(layer + number + part + letter);
  };
  const Letters norm{"γ", "β"}, network{"W_1", "b_1", "W_2", "b_2"}, W{"W_Q", "W_K", "W_V", "W_O"},
      QKVW{"Q", "K", "V", "W"};
  add_two_layers(formulated_paths, "Encoder_",
                 {{"MultiHead.", W}, {"LayerNorm'.", norm}, {"FFN.", network}, {"LayerNorm.", norm}});
  add_two_layers(formulated_paths, "Decoder_",
                 {{"MaskedMultiHead.", W},
                  {"LayerNorm'.", norm},
                  {"MultiHead.", W},
                  {"LayerNorm''.", norm},
                  {"FFN.", network},
                  {"LayerNorm.", norm}});
  CHECK(formulated_paths.size() == detail::weight_matrix_count<SmallFormulated>);
  CHECK(not_drawn_in_this_order<SmallFormulated>(formulated_paths) == "");

  add_two_layers(numpy_paths, "src.enc_",
                 {{"self.", QKVW}, {"norm_self.", norm}, {"FFN.", network}, {"norm_ff.", norm}});
  numpy_paths.insert(numpy_paths.end(), {"tgt.Em.W_e", "tgt.PE.PE"});
  add_two_layers(numpy_paths, "tgt.dec_",
                 {{"self.", QKVW},
                  {"norm_self.", norm},
                  {"cross.", QKVW},
                  {"norm_cross.", norm},
                  {"FFN.", network},
                  {"norm_ff.", norm}});
  numpy_paths.insert(numpy_paths.end(), {"tgt.W", "tgt.b"});
  CHECK(numpy_paths.size() == detail::weight_matrix_count<NumpyToy>);
  CHECK(not_drawn_in_this_order<NumpyToy>(numpy_paths) == "");
}

TEST_CASE_TEMPLATE("Glorot's values by path: γ is 1, β and what else is added is 0, all else is drawn", Model,
                   SmallFormulated, NumpyToy) {
  const Model weights;
  std::set<std::string> ones, zeros;
  for_each_weight(
      [&](const Name& name, const auto&) {
        const std::string path = name.path();
        if (path.ends_with(".γ")) ones.insert(path);
        for (const char* added : {".β", ".b_1", ".b_2", "tgt.b"})
          if (path.ends_with(added)) zeros.insert(path);
      },
      weights);
  // Per layer of the encoder 2 normalizations, of the decoder 3; and two biases in each network.
  CHECK(ones.size() == 2 * 2 + 2 * 3);
  CHECK(zeros.size() == ones.size() + 2 * 2 + 2 * 2 + std::is_same_v<Model, NumpyToy>);
  CHECK(not_as_glorot<Model>(ones, zeros) == "");
}

TEST_CASE("no weight stands still after the Glorot initialisation: every gradient has an entry that is not 0") {
  const auto check = [](auto model, const auto& batch) {
    Generator generator{11};
    initialize_glorot(model, generator);
    auto gradient = decltype(model){};
    loss_and_gradient(model, batch, gradient);
    for_each_weight(
        [](const Name& name, const auto& W_bar) {
          bool moves = false;
          for (std::size_t e = 0; e < W_bar.size; ++e) moves = moves || W_bar.data()[e] != 0;
          CHECK_MESSAGE(moves, notation<decltype(model)>().text, ": ", name.path());
        },
        gradient);
  };
  const Translations batch{sources(), Tokens{{1, 3, 2}, {0, 2, 2, 3}, {5, 4}}};
  check(SmallFormulated{}, batch);
  check(NumpyToy{}, batch);
  check(TransformerLM<Config{.vocab_size = 7, .d_model = 8, .d_ff = 12, .n_layers = 2, .n_heads = 2, .max_len = 7},
                      double>{},
        unweighted<double>(0, sources()));
}

TEST_CASE_TEMPLATE("an overfitted batch: the loss falls below 0.01, and decoding says the targets", Model,
                   SmallFormulated, NumpyToy) {
  Generator generator{5};
  Model model;
  initialize_glorot(model, generator);
  const Translations batch{Tokens{{3, 4}, {5}, {6, 3, 4}}, Tokens{{1, 4, 3, 2}, {1, 5, 2}, {1, 4, 3, 6, 2}}};
  Adam<Model> adam{0.01};
  double last = 0;
  train(
      model, adam, [&] { return batch; }, 1000,
      [&](Progress progress) {
        last = progress.loss;
        return last < 0.01 ? Continue::no : Continue::yes;
      },
      std::conditional_t<std::is_same_v<Model, NumpyToy>, Mean, Sum>{});
  CHECK(last < 0.01);
  CHECK(decode(model, {3, 4}, {1, 2, 9}) == std::vector<Token>{4, 3, 2});
  CHECK(decode(model, {6, 3, 4}, {1, 2, 9}) == std::vector<Token>{4, 3, 6, 2});
  CHECK(decode(model, {6, 3, 4}, {1, 2, 3}) == std::vector<Token>{4, 3});  // no room for more
}

TEST_CASE("the loss: a sum for the formulated model, a mean over non-null targets for the notebook's") {
  Generator generator{6};
  const auto formulated_model = random_layer<SmallFormulated>(generator);
  const auto numpy_model = random_layer<NumpyToy>(generator);
  const Tokens x{3, 1}, y{1, 5, 0, 2};
  const auto log_p = [](const auto& Z, std::size_t i, Token token) { return log_softmax(Z)(i, std::size_t(token)); };
  const Tokens read{1, 5, 0};
  const auto f = scores(formulated_model)({x, read});
  CHECK(loss(formulated_model, Translations{x, y}, Sum{}) ==
        doctest::Approx(-log_p(f, 0, 5) - log_p(f, 1, 0) - log_p(f, 2, 2)).epsilon(1e-13));
  const auto g = numpy_model({x, read});
  CHECK(loss(numpy_model, Translations{x, y, 0}) ==
        doctest::Approx(-(log_p(g, 0, 5) + log_p(g, 2, 2)) / 2).epsilon(1e-13));
  CHECK(loss(numpy_model, Translations{x, y}) ==
        doctest::Approx(-(log_p(g, 0, 5) + log_p(g, 1, 0) + log_p(g, 2, 2)) / 3).epsilon(1e-13));
}

TEST_CASE("the temperature is one of the scores, not of what the last Softmax makes of them") {
  Generator weights{13};
  const auto model = random_layer<SmallFormulated>(weights);
  Generator generator{1};
  // So cold that only the maximum score is left, also if scores differ by more than probabilities can.
  for (int draw = 0; draw < 20; ++draw) {
    CAPTURE(draw);
    CHECK(decode(model, {3, 4}, {1, 2, 9}, Sampled{generator, 1e-9}) == decode(model, {3, 4}, {1, 2, 9}));
  }
}

TEST_CASE("scores(model) is what the last Softmax is of, and a model without one") {
  SmallFormulated formulated_model;
  NumpyToy numpy_model;
  static_assert(std::is_base_of_v<formulated::Scores<small_formulated, double>,
                                  std::remove_cvref_t<decltype(scores(formulated_model))>>);
  const bool all_of_it = &scores(numpy_model) == &numpy_model;
  CHECK(all_of_it);
  const bool its_own_W_e = &weight<"W_e">(scores(formulated_model)) == &weight<"W_e">(formulated_model);
  CHECK(its_own_W_e);
  static_assert(std::is_const_v<std::remove_reference_t<decltype(scores(std::as_const(formulated_model)))>>);
}

TEST_CASE_TEMPLATE(
    "a token that cannot be predicted is refused by the loss and by its gradient alike, which is left as it was", Model,
    SmallFormulated, NumpyToy) {
  Generator generator{16};
  const auto model = random_layer<Model>(generator);
  auto gradient = random_layer<Model>(generator);
  const auto before = gradient;
  const auto refuses = [&]<class Objective>(const Translations& batch, const std::string& sentence, Objective) {
    CAPTURE(sentence);
    CHECK_THROWS_WITH(loss(model, batch, Objective{}), sentence.c_str());
    CHECK_THROWS_WITH(loss_and_gradient(model, batch, gradient, Objective{}), sentence.c_str());
    CHECK(distance_of_weights(gradient, before) == 0);
  };
  constexpr auto tokens = Token(Model::codomain::cols);
  const std::string are = ", to be predicted at position 3 of sequence 1, is not in the vocabulary: tokens are 0 to " +
                          std::to_string(tokens - 1);
  // The last token of a target is predicted and never read, so the model does not refuse it.
  refuses({Tokens{1}, Tokens{1, 2, tokens}}, "token " + std::to_string(tokens) + are, Mean{});
  refuses({Tokens{1}, Tokens{1, 2, -1}}, "token -1" + are, Mean{});
  refuses({Tokens{1}, Tokens{1, 2, -1}}, "token -1" + are, Sum{});
  const Translations only_null{Tokens{1}, Tokens{1, 0, 0}, 0};
  refuses(only_null, "the loss weights of a batch sum to 0: there is nothing to average", Mean{});
  refuses(only_null, "the loss weights of a batch sum to 0: there is nothing to average", Sum{});
  refuses({Tokens{1}, targets()}, "1 sources cannot have 3 targets", Mean{});
  refuses({}, "a batch needs at least one translation; this one is empty", Mean{});
}

TEST_CASE("bad input: one sentence each") {
  Generator generator{8};
  const auto model = random_layer<NumpyToy>(generator);
  const auto formulated_model = random_layer<SmallFormulated>(generator);
  CHECK_THROWS_WITH(model({sources(), Tokens{1}}), "a memory of 3 sequences does not serve 1 targets");
  CHECK_THROWS_WITH(model({Tokens{10}, Tokens{1}}),
                    "token 10, read at position 1 of sequence 1, is not in the vocabulary: tokens are 0 to 9");
  CHECK_THROWS_WITH(formulated_model({Tokens{1}, Tokens{7}}),
                    "token 7, read at position 1 of sequence 1, is not in the vocabulary: tokens are 0 to 6");
  CHECK_THROWS_WITH(model({Tokens{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, Tokens{1}}),
                    "sequence 1, of 10 tokens, is too long: max_len is 9");
  CHECK_THROWS_WITH(decode(model, {}, {1, 2, 9}), "the source is empty: the decoder has nothing to look at");
  CHECK_THROWS_WITH(loss(model, Translations{Tokens{1}, Tokens{1}}),
                    "target 1 has 1 tokens: a target needs the start token and one more, at least 2");
  CHECK_THROWS_WITH(loss(model, Translations{{{1, 2}, {}, {5}}, {{0, 2, 1}, {0, 3}, {}}}),
                    "target 3 has 0 tokens: a target needs the start token and one more, at least 2");
  CHECK(loss(model, Translations{Tokens{1}, Tokens{1, 0, 0}, 0}, DividedBy<double>{2}) == 0);
}

}  // namespace tlm::tests::in_models
