// SPDX-License-Identifier: MIT
// Claim 10, about the encoder–decoders. Without positional encoding the encoder is equivariant under permutations of
// the positions: E(PX) = P E(X). So it cannot see order. It is not autoregressive either. The decoder D(y; M) is
// autoregressive in y and unrestricted in the memory M: every row may depend on every row of M. The rows of the
// formulated model are probability vectors. Sequences of a batch do not affect each other, whatever their lengths and
// those of their memories. Each pullback is the transpose of the derivative. (The Formulated Transformer, "Definition"
// and "Forward pass"; the Wolfram article, "Decoder"; the NumPy notebook, "Positional encoding", "Masked decoding" and
// "Cross-attention". Its class builds the causal mask upside down, and every gradient check passes nevertheless: that
// is the control.)
//
// Derivation. Attention without a mask is a sum over all keys, which has no order; everything else in the encoder is
// rowwise. In the decoder the masked attention is autoregressive (claim 3). Cross-attention is A(Y)×B, where B comes
// from the memory alone and row i of A(Y) from row i of Y. The rest is rowwise (claim 1).

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "controls.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

template <class Real>
using Rows = Matrix<n, d_model, Real>;
template <class Real>
using FormulatedEncoderLayers = Stack<EncoderLayer<Real>, 2>;
template <class Real>
using NumpyEncoderBlocks = Stack<EncoderBlock<Real>, 2>;
template <class Real>
using WolframEncoderBlocks = Stack<WolframEncoderBlock<Real>, 2>;
template <class Real>
using FormulatedEncoderBehindPE = Composition<FormulatedEncoderLayers<Real>, W_p<Real>>;
template <class Real>
using NumpyEncoderBehindPE = Composition<NumpyEncoderBlocks<Real>, PE<Real>>;
template <class Real>
using FormulatedDecoderLayers = Stack<formulated::DecoderLayer<small_formulated, Real>, 2>;
template <class Real>
using NumpyDecoderBlocks = Stack<numpy::DecoderBlock<small_numpy, Real>, 2>;
template <class Real>
using WolframDecoderBlocks = Stack<wolfram::DecoderBlock<small_wolfram, Real>, 2>;
/// The models after their embeddings: source and target are not tokens, but any rows.
template <class Real>
using FormulatedBehindEm = EncoderDecoder<FormulatedEncoderLayers<Real>, FormulatedDecoderLayers<Real>>;
template <class Real>
using NumpyBehindEm = EncoderDecoder<NumpyEncoderBlocks<Real>, NumpyDecoderBlocks<Real>>;
template <class Real>
using WolframBehindEm = EncoderDecoder<WolframEncoderBlocks<Real>, WolframDecoderBlocks<Real>>;

static_assert(!autoregressive<FormulatedEncoderLayers<double>> && !autoregressive<NumpyEncoderBlocks<double>>);
static_assert(autoregressive<FormulatedDecoderLayers<double>> && !rowwise<FormulatedDecoderLayers<double>>);
static_assert(autoregressive<NumpyDecoderBlocks<double>> && !rowwise<NumpyDecoderBlocks<double>>);
static_assert(!autoregressive<WolframEncoderBlocks<double>> && autoregressive<WolframDecoderBlocks<double>>);
static_assert(autoregressive<FormulatedModel<double>> && autoregressive<NumpyModel<double>>);
static_assert(autoregressive<WolframModel<double>>);
// With one memory cross-attention is rowwise (below). It is not called rowwise, because in a stack each row looks at
// the memory of its sequence. So it cannot run once over all rows.
static_assert(autoregressive<CrossMH<double>> && !rowwise<CrossMH<double>>);

/// The models over double and the prime field, and their blocks over sets of positions. Claim 4 runs their parts in
/// float, too.
std::vector<std::pair<Subject, std::unique_ptr<Operation<Dependencies>>>> models() {
  std::vector<std::pair<Subject, std::unique_ptr<Operation<Dependencies>>>> list;
  const auto add = [&]<template <class> class Model, template <class> class Blocks>(Listed<Model> listed,
                                                                                    Listed<Blocks>) {
    Subject model;
    model.in_double = operation<Model<double>>(listed.name);
    model.in_field = operation<Model<PrimeField>, pullback_face>(listed.name);
    list.emplace_back(std::move(model), operation<Blocks<Dependencies>>(listed.name));
  };
  add(Listed<FormulatedModel>{"the formulated model"}, Listed<FormulatedBehindEm>{});
  add(Listed<NumpyModel>{"the NumPy notebook's model"}, Listed<NumpyBehindEm>{});
  add(Listed<WolframModel>{"the Wolfram article's model"}, Listed<WolframBehindEm>{});
  return list;
}

/// E(PX) = P E(X) for all permutations P of four rows. (A maximum is the only function here for which the order of its
/// arguments could matter, and it is symmetric.)
template <template <class> class Layers>
std::optional<Failure> equivariance_fails(std::string_view name, std::uint64_t seed) {
  return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
    const auto layers = draw_layer<Layers<PrimeField>>(generator);
    const auto X = draw_matrix<Rows<PrimeField>>(Sequences{4}, generator);
    const auto Y = layers(X);
    std::vector<std::size_t> order{0, 1, 2, 3};
    while (std::next_permutation(order.begin(), order.end())) {
      Rows<PrimeField> permuted{Sequences{4}}, expected{Sequences{4}};
      for (std::size_t i = 0; i < 4; ++i) {
        permuted.row(i) = X.row(order[i]);
        expected.row(i) = Y.row(order[i]);
      }
      const auto failure = first_difference({.claim = "E(PX) = P E(X)",
                                             .layer = std::string(name),
                                             .arithmetic = arithmetic<PrimeField>(),
                                             .seed = seed,
                                             .n = 4,
                                             .left = {"E(PX) gives", ""},
                                             .right = {"P E(X) gives", ""}},
                                            layers(permuted), expected);
      if (failure) return failure;
    }
    return std::nullopt;
  });
}

/// The NumPy class's decoder block, whose mask is upside down (see UpsideDownMask).
template <class Real>
struct UpsideDownSelf : Composition<Times<"W", d_model, d_model, Real>, UpsideDownMask<Real>> {};
template <class Real>
using UpsideDownBlock =
    WithMemory<Composition<LayerNorm<"norm_ff", d_model, Real>, Res<FeedForwardNetwork<d_model, d_ff, Real>>,
                           LayerNorm<"norm_cross", d_model, Real>,
                           Res<numpy::Attention<"cross", small_numpy, Unmasked, FromMemory, Real>>,
                           LayerNorm<"norm_self", d_model, Real>, Res<UpsideDownSelf<Real>>>>;

/// Which rows of y and of the memory each row of the decoder's output depends on. The memory's rows have the tags of Ȳ.
template <template <class> class Layers>
void check_dependencies() {
  using T = Layers<Dependencies>;
  Generator generator{0};
  const auto layers = draw_layer<T>(generator);
  for (std::size_t n = 1; n <= greatest_n; ++n)
    for (std::size_t m = 1; m <= 3; ++m) {
      Memory<Rows<Dependencies>> memory{Rows<Dependencies>{Sequences{m}}};
      for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < d_model; ++j) memory.rows(i, j) = Dependencies::codomain_position(i);
      const auto Y = layers(tagged<Rows<Dependencies>>(Sequences{n}), memory);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < d_model; ++j) {
          INFO("n = ", n, ", ", m, " rows of memory, row ", i + 1, " depends on the rows | of memory ", shown(Y(i, j)));
          REQUIRE(((Y(i, j).tags() & 0xffffffff) >> (i + 1)) == 0);
        }
    }
}

/// Requires that every entry of row i changes if one of the rows 1, …, i of y, or a row of the memory, is drawn anew.
template <template <class> class Layers>
void every_row_counts(std::uint64_t seed) {
  redrawing(seed, [](Generator& generator) {
    const auto layers = draw_layer<Layers<PrimeField>>(generator);
    constexpr std::size_t rows = 4, memory_rows = 3;
    const auto Y = draw_matrix<Rows<PrimeField>>(Sequences{rows}, generator);
    const Memory<Rows<PrimeField>> memory{draw_matrix<Rows<PrimeField>>(Sequences{memory_rows}, generator)};
    const auto before = layers(Y, memory);
    const auto changes = [&](const Rows<PrimeField>& after, std::size_t first, const char* what, std::size_t row) {
      for (std::size_t i = first; i < rows; ++i)
        for (std::size_t j = 0; j < d_model; ++j) {
          INFO("another row ", row + 1, " of ", std::string(what), " leaves row ", i + 1, ", column ", j + 1);
          REQUIRE(!same(after(i, j), before(i, j)));
        }
    };
    const auto another = [&](Rows<PrimeField> X, std::size_t row) {
      for (std::size_t j = 0; j < d_model; ++j) X(row, j) = PrimeField::random(generator);
      return X;
    };
    for (std::size_t row = 0; row < rows; ++row) changes(layers(another(Y, row), memory), row, "y", row);
    for (std::size_t row = 0; row < memory_rows; ++row)
      changes(layers(Y, Memory<Rows<PrimeField>>{another(memory.rows, row)}), 0, "the memory", row);
    return true;
  });
}

/// The rows of y and of the memory, in which all entries of sequence s are of[s].
template <class Real>
Rows<Real> filled(const Sequences& sequences, const std::vector<Real>& of) {
  Rows<Real> X{sequences};
  for (std::size_t s = 0; s < sequences.count(); ++s)
    for (std::size_t e = sequences.begin(s) * d_model; e < sequences.end(s) * d_model; ++e) X.data()[e] = of[s];
  return X;
}

/// Whether the first sequence of a stack stays the same bit for bit when NaN fills the other and its memory.
template <template <class> class Layers, class Real>
bool nan_stays_where_it_is(std::uint64_t seed) {
  Generator generator{seed};
  const auto layers = draw_layer<Layers<Real>>(generator);
  const auto of_y = Sequences::of_lengths({3, 2}), of_memory = Sequences::of_lengths({1, 4});
  auto Y = draw_matrix<Rows<Real>>(of_y, generator);
  Memory<Rows<Real>> memory{draw_matrix<Rows<Real>>(of_memory, generator)};
  const auto before = sequence(layers(Y, memory), 0);
  constexpr Real NaN = std::numeric_limits<Real>::quiet_NaN();
  std::fill(&Y(of_y.begin(1), 0), Y.data() + Y.rows() * d_model, NaN);
  std::fill(&memory.rows(of_memory.begin(1), 0), memory.rows.data() + memory.rows.rows() * d_model, NaN);
  return sequence(layers(Y, memory), 0) == before;
}

/// Whether the rows of each sequence of a stack depend on that sequence and its memory only, for every input and weight.
template <template <class> class Layers>
bool sequences_see_themselves() {
  Generator generator{0};
  const auto layers = draw_layer<Layers<Dependencies>>(generator);
  const std::vector<Dependencies> tags{Dependencies::position(0), Dependencies::position(1)};
  const auto of_y = Sequences::of_lengths({3, 2});
  const Memory<Rows<Dependencies>> memory{filled(Sequences::of_lengths({1, 4}), tags)};
  return same(layers(filled(of_y, tags), memory), filled(of_y, tags));
}

}  // namespace

TEST_CASE(
    "without positional encoding the encoders are equivariant under permutations, E(PX) = P E(X): exactly over the "
    "prime field, for all 24 permutations of n = 4 rows" *
    doctest::description(
        "formulated_encoder_is_equivariant, numpy_encoder_is_equivariant, wolfram_encoder_is_equivariant, "
        "unmasked_attention_is_equivariant, rowwise_is_equivariant, composition_is_equivariant, zip_is_equivariant")) {
  must_hold(equivariance_fails<FormulatedEncoderLayers>("the formulated encoder", 1));
  must_hold(equivariance_fails<NumpyEncoderBlocks>("the NumPy notebook's encoder", 2));
  must_hold(equivariance_fails<WolframEncoderBlocks>("the Wolfram article's encoder", 3));
}

TEST_CASE("control: E∘PE is not equivariant, nor is PE alone, nor masked attention") {
  CHECK(equivariance_fails<FormulatedEncoderBehindPE>("the formulated encoder behind PE", 1));
  CHECK(equivariance_fails<NumpyEncoderBehindPE>("the NumPy notebook's encoder behind PE", 2));
  CHECK(equivariance_fails<PE>("PE", 3));
  CHECK(equivariance_fails<CA>("CA", 4));
}

TEST_CASE(
    "for random weights none of the encoders is autoregressive: the first of two rows sees the second, over the prime "
    "field") {
  for (const auto& failure :
       {compare_parts(OperationOf<FormulatedEncoderLayers<PrimeField>>{"the formulated encoder"}, Claim::autoregressive,
                      11),
        compare_parts(OperationOf<NumpyEncoderBlocks<PrimeField>>{"the NumPy notebook's encoder"},
                      Claim::autoregressive, 11),
        compare_parts(OperationOf<WolframEncoderBlocks<PrimeField>>{"the Wolfram article's encoder"},
                      Claim::autoregressive, 11)}) {
    REQUIRE(failure);
    CHECK(failure->n == 2);
    CHECK(failure->i == 1);
  }
}

TEST_CASE("cross-attention is rowwise in y, for one memory of 3 rows: over the four arithmetics, n ≤ 6" *
          doctest::description("cross_attention_is_rowwise")) {
  must_hold(verdict_on<CrossMH>("MultiHead", Claim::rowwise));
}

TEST_CASE(
    "the models are autoregressive in y, T(x, y|i) = T(x, y)|i: over double, its bits and the prime field; their "
    "blocks alone, without embedding, positions and output, over sets; n ≤ 6 and n+1 rows of x (over sets 1)" *
    doctest::description("encoder_decoder_is_autoregressive, Transformer_is_autoregressive")) {
  for (const auto& [model, blocks] : models()) {
    must_hold(verdict_on(model, Claim::autoregressive));
    must_hold(trace_positions(*blocks, Claim::autoregressive));
  }
}

TEST_CASE(
    "row i of the decoders depends on no row of y after i, for all y, memories and weights: over sets of positions, "
    "n ≤ 6, "
    "memories of 1 to 3 rows") {
  check_dependencies<FormulatedDecoderLayers>();
  check_dependencies<NumpyDecoderBlocks>();
  check_dependencies<WolframDecoderBlocks>();
}

TEST_CASE(
    "for random weights every entry of row i of the decoders depends on each of the rows 1, …, i of y and on each row "
    "of the memory: if one of them is drawn anew, every entry changes (over the prime field, n = 4, a memory of 3 "
    "rows)") {
  every_row_counts<FormulatedDecoderLayers>(15);
  every_row_counts<NumpyDecoderBlocks>(16);
  every_row_counts<WolframDecoderBlocks>(18);
}

TEST_CASE(
    "the rows of the formulated model are probability vectors: ≥ 0 in double, and of sum 1 exactly over the prime "
    "field" *
    doctest::description("softmax_is_positive, softmax_sums_to_1")) {
  Generator draw{17};
  for (int draws = 0; draws < 100; ++draws) {
    const auto Y = draw_layer<FormulatedModel<double>>(draw)({Tokens{1, 2, 3}, Tokens{0, 4}});
    for (std::size_t i = 0; i < Y.rows(); ++i)
      for (std::size_t j = 0; j < vocab_size; ++j) REQUIRE(Y(i, j) >= 0);
  }
  redrawing(8, [](Generator& generator) {
    const auto model = draw_layer<FormulatedModel<PrimeField>>(generator);
    const auto Y = model({Tokens{1, 2, 3}, Tokens{0, 4}});
    for (std::size_t i = 0; i < Y.rows(); ++i) CHECK(same(sum_of(Y.row(i)), PrimeField(1)));
    return true;
  });
}

TEST_CASE(
    "the sequences of a batch do not affect each other, whatever their lengths and those of their sources: the "
    "models over double, its bits and the prime field in stacks of 2 and 5, their blocks over sets in these, and the "
    "decoders' blocks in a stack of 2, with NaN and over sets") {
  for (const auto& [model, blocks] : models()) {
    must_hold(verdict_on(model, Claim::of_each_sequence));
    must_hold(trace_positions(*blocks, Claim::of_each_sequence));
  }
  CHECK(nan_stays_where_it_is<FormulatedDecoderLayers, double>(9));
  CHECK(nan_stays_where_it_is<NumpyDecoderBlocks, double>(10));
  CHECK(nan_stays_where_it_is<WolframDecoderBlocks, double>(19));
  CHECK(sequences_see_themselves<FormulatedDecoderLayers>());
  CHECK(sequences_see_themselves<NumpyDecoderBlocks>());
  CHECK(sequences_see_themselves<WolframDecoderBlocks>());
}

TEST_CASE(
    "with the noise of a Dropout the Wolfram model is autoregressive in y as well, T(x, y|i; ν) = T(x, y; ν)|i, and a "
    "part of a batch has the rows of the whole: exactly over the prime field, noise of 3 steps, n ≤ 6") {
  redrawing(21, [](Generator& generator) {
    const auto model = draw_layer<WolframModel<PrimeField>>(generator);
    const Tokens x{3, 1, 4}, y{1, 0, 2, 4, 0, 3};
    for (const std::uint64_t step : {1u, 2u, 3u}) {
      const Noise noise{model, 5, step};
      const auto whole = model({x, y}, noise);
      REQUIRE(!same(whole, model({x, y})));
      for (std::size_t i = 1; i <= y.rows(); ++i) REQUIRE(same(model({x, y | i}, noise), whole | i));
      const auto stacked = model({concat_sequences<1, Token>({x, x}), concat_sequences<1, Token>({y, y})}, noise);
      REQUIRE(same(sequence(stacked, 0), whole));
      REQUIRE(!same(sequence(stacked, 1), whole));  // its noise is its own
      REQUIRE(same(sequence(stacked, 1), model({x, y}, noise.from(1))));
    }
    return true;
  });
}

TEST_CASE(
    "the pullbacks of the models are the transposes of their derivatives: exactly over dual numbers of the prime "
    "field") {
  must_hold(transpose_fails<FormulatedModel, PrimeField>("the formulated model", 11));
  must_hold(transpose_fails<NumpyModel, PrimeField>("the NumPy notebook's model", 12));
  must_hold(transpose_fails<WolframModel, PrimeField>("the Wolfram article's model", 20));
}

TEST_CASE(
    "the pullbacks of the models are linear, add to the gradient, and can be applied again: exactly over the prime "
    "field") {
  for (const auto requirement : {Requirement::linear, Requirement::adds, Requirement::again})
    for (const auto& [model, blocks] : models()) must_hold(pullback_fails(*model.in_field, requirement, 14));
}

TEST_CASE(
    "control: with the mask upside down, as in the NumPy notebook's class, the pullbacks are right, and a decoder "
    "block is not autoregressive") {
  must_hold(transpose_fails<UpsideDownBlock, PrimeField>("a decoder block upside down", 13));
  const Verdict verdict = verdict_on<UpsideDownBlock>("a decoder block upside down", Claim::autoregressive);
  for (const auto& failure : {verdict.reals, verdict.bits, verdict.field, verdict.sets}) {
    REQUIRE(failure);
    CHECK(failure->n == 2);
    CHECK(failure->i == 1);
  }
}
