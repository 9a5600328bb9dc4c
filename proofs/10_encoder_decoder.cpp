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

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "controls.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

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
/// (M, y) ↦ D(y; M)
template <class Real>
using FormulatedDecoder = EncoderDecoder<Same<Real>, FormulatedDecoderLayers<Real>>;
template <class Real>
using NumpyDecoder = EncoderDecoder<Same<Real>, NumpyDecoderBlocks<Real>>;
template <class Real>
using WolframDecoder = EncoderDecoder<Same<Real>, WolframDecoderBlocks<Real>>;

static_assert(!autoregressive<FormulatedEncoderLayers<double>> && !autoregressive<NumpyEncoderBlocks<double>>);
static_assert(autoregressive<FormulatedDecoderLayers<double>> && !rowwise<FormulatedDecoderLayers<double>>);
static_assert(autoregressive<NumpyDecoderBlocks<double>> && !rowwise<NumpyDecoderBlocks<double>>);
static_assert(!autoregressive<WolframEncoderBlocks<double>> && autoregressive<WolframDecoderBlocks<double>>);
static_assert(autoregressive<FormulatedModel<double>> && autoregressive<NumpyModel<double>>);
static_assert(autoregressive<WolframModel<double>>);
// With one memory cross-attention is rowwise (below). It is not called rowwise, because in a stack each row looks at
// the memory of its sequence. So it cannot run once over all rows.
static_assert(autoregressive<CrossMH<double>> && !rowwise<CrossMH<double>>);

/// An operation over double and the prime field, and another one over sets of positions. Claim 4 runs the parts of the
/// models in float, too.
template <template <class> class T, template <class> class OverSets, int faces = value_face>
Subject without_float(std::string_view name) {
  return {.in_double = operation<T<double>>(name),
          .in_field = operation<T<PrimeField>, faces>(name),
          .in_sets = operation<OverSets<Dependencies>>(name)};
}
/// The models, and over sets of positions their blocks.
std::array<Subject, 3> models() {
  return {without_float<FormulatedModel, FormulatedBehindEm, pullback_face>("the formulated model"),
          without_float<NumpyModel, NumpyBehindEm, pullback_face>("the NumPy notebook's model"),
          without_float<WolframModel, WolframBehindEm, pullback_face>("the Wolfram article's model")};
}
/// The decoders' blocks, as operations on a memory and y.
std::array<Subject, 3> decoders() {
  return {without_float<FormulatedDecoder, FormulatedDecoder>("the formulated decoder"),
          without_float<NumpyDecoder, NumpyDecoder>("the NumPy notebook's decoder"),
          without_float<WolframDecoder, WolframDecoder>("the Wolfram article's decoder")};
}
/// The encoders, without positional encoding.
std::array<std::unique_ptr<Operation<PrimeField>>, 3> encoders() {
  return {operation<FormulatedEncoderLayers<PrimeField>>("the formulated encoder"),
          operation<NumpyEncoderBlocks<PrimeField>>("the NumPy notebook's encoder"),
          operation<WolframEncoderBlocks<PrimeField>>("the Wolfram article's encoder")};
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

/// The decoders' blocks with a memory of one row.
template <class Real>
using FormulatedDecoderOfOne = WithMemory<FormulatedDecoderLayers<Real>, 1>;
template <class Real>
using NumpyDecoderOfOne = WithMemory<NumpyDecoderBlocks<Real>, 1>;
template <class Real>
using WolframDecoderOfOne = WithMemory<WolframDecoderBlocks<Real>, 1>;

}  // namespace

TEST_CASE(
    "without positional encoding the encoders are equivariant under permutations, E(PX) = P E(X): exactly over the "
    "prime field, for all 24 permutations of n = 4 rows" *
    doctest::description(
        "formulated_encoder_is_equivariant, numpy_encoder_is_equivariant, wolfram_encoder_is_equivariant, "
        "unmasked_attention_is_equivariant, rowwise_is_equivariant, composition_is_equivariant, zip_is_equivariant")) {
  for (const auto& encoder : encoders()) must_hold(permutation_fails(*encoder, 1));
}

TEST_CASE("control: E∘PE is not equivariant, nor is PE alone, nor masked attention") {
  CHECK(permutation_fails(OperationOf<FormulatedEncoderBehindPE<PrimeField>>{"the formulated encoder behind PE"}, 1));
  CHECK(permutation_fails(OperationOf<NumpyEncoderBehindPE<PrimeField>>{"the NumPy notebook's encoder behind PE"}, 2));
  CHECK(permutation_fails(OperationOf<PE<PrimeField>>{"PE"}, 3));
  CHECK(permutation_fails(OperationOf<CA<PrimeField>>{"CA"}, 4));
}

TEST_CASE(
    "for random weights none of the encoders is autoregressive: the first of two rows sees the second, over the prime "
    "field") {
  for (const auto& encoder : encoders()) {
    const auto failure = compare_parts(*encoder, Claim::autoregressive, 11);
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
    "blocks alone, without embedding, positions and output, over sets; n ≤ 6 and n+1 rows of x" *
    doctest::description("encoder_decoder_is_autoregressive, Transformer_is_autoregressive")) {
  for (const Subject& model : models()) must_hold(verdict_on(model, Claim::autoregressive));
}

TEST_CASE(
    "row i of the decoders depends on no row of y after i, for all y, memories and weights: over sets of positions, "
    "n ≤ 6, memories of 1 and of n+1 rows; and over double, its bits and the prime field, memories of n+1 rows") {
  for (const Subject& decoder : decoders()) must_hold(verdict_on(decoder, Claim::autoregressive));
  must_hold(trace_positions(OperationOf<FormulatedDecoderOfOne<Dependencies>>{"the formulated decoder"},
                            Claim::autoregressive));
  must_hold(trace_positions(OperationOf<NumpyDecoderOfOne<Dependencies>>{"the NumPy notebook's decoder"},
                            Claim::autoregressive));
  must_hold(trace_positions(OperationOf<WolframDecoderOfOne<Dependencies>>{"the Wolfram article's decoder"},
                            Claim::autoregressive));
}

TEST_CASE(
    "for random weights every entry of row i of the decoders depends on each of the rows 1, …, i of y and on each row "
    "of the memory: if one of them is drawn anew, every entry changes (over the prime field, n ≤ 6, a memory of n+1 "
    "rows)") {
  for (const Subject& decoder : decoders()) must_hold(a_row_does_not_count(*decoder.in_field, Claim::autoregressive));
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
    "the sequences of a batch do not affect each other, whatever their lengths and those of their sources: the models "
    "over double, its bits and the prime field, their blocks over sets, and the decoders' blocks over all of these, "
    "with NaN in the other sequences and memories, in stacks of 2 and 5") {
  for (const Subject& model : models()) must_hold(verdict_on(model, Claim::of_each_sequence));
  for (const Subject& decoder : decoders()) must_hold(verdict_on(decoder, Claim::of_each_sequence));
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
    for (const Subject& model : models()) must_hold(pullback_fails(*model.in_field, requirement, 14));
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
