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
#include <string>

#include "controls.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

// The encoders and decoders without embeddings, positions and output.
template <class Real>
using FormulatedEncoder = Stack<EncoderLayer<Real>, 2>;
template <class Real>
using NumpyEncoder = Stack<EncoderBlock<Real>, 2>;
template <class Real>
using WolframEncoder = Stack<WolframEncoderBlock<Real>, 2>;
template <class Real>
using FormulatedDecoder = Stack<formulated::DecoderLayer<small_formulated, Real>, 2>;
template <class Real>
using NumpyDecoder = Stack<numpy::DecoderBlock<small_numpy, Real>, 2>;
template <class Real>
using WolframDecoder = Stack<wolfram::DecoderBlock<small_wolfram, Real>, 2>;
template <class Real>
using FormulatedEncoderBehindPE = Composition<FormulatedEncoder<Real>, W_p<Real>>;
template <class Real>
using NumpyEncoderBehindPE = Composition<NumpyEncoder<Real>, PE<Real>>;

// With one memory cross-attention is rowwise (below). It is not called rowwise, because in a stack each row looks at
// the memory of its sequence. So it cannot run once over all rows.
static_assert(autoregressive<CrossMH<double>> && !rowwise<CrossMH<double>>);

/// X ↦ X|1. (Its pullback is not used.)
template <class Real>
struct FirstRow : Same<Real> {
  using declared = is::Unrestricted;
  Matrix<n, d_model, Real> operator()(const Matrix<n, d_model, Real>& X) const { return X | 1; }
};

/// A model T with its encoder E and its decoder D. Claim 4 runs their parts in float, too.
struct Checked {
  Subject model{};  ///< Over sets D(y; E(x)): source and target are not tokens, but any rows.
  std::unique_ptr<Operation<Dual<PrimeField>>> in_duals{};
  std::unique_ptr<Operation<PrimeField>> encoder{};
  Subject decoder{};                                      ///< (M, y) ↦ D(y; M)
  std::unique_ptr<Operation<Dependencies>> of_one_row{};  ///< (M, y) ↦ D(y; M|1)
};
template <template <class> class T, template <class> class E, template <class> class D>
Checked checked(const std::string& name) {
  static_assert(autoregressive<T<double>> && !autoregressive<E<double>>);
  static_assert(autoregressive<D<double>> && !rowwise<D<double>>);
  const std::string model = name + " model", decoder = name + " decoder";
  return {
      .model = {.in_double = operation<T<double>>(model),
                .in_field = operation<T<PrimeField>, both_faces>(model),
                .in_sets = operation<EncoderDecoder<E<Dependencies>, D<Dependencies>>>(model)},
      .in_duals = operation<T<Dual<PrimeField>>>(model),
      .encoder = operation<E<PrimeField>>(name + " encoder"),
      .decoder = {.in_double = operation<WithMemory<D<double>>>(decoder),
                  .in_field = operation<WithMemory<D<PrimeField>>>(decoder),
                  .in_sets = operation<WithMemory<D<Dependencies>>>(decoder)},
      .of_one_row = operation<EncoderDecoder<FirstRow<Dependencies>, D<Dependencies>>>(decoder),
  };
}
std::array<Checked, 3> models() {
  return {checked<FormulatedModel, FormulatedEncoder, FormulatedDecoder>("the formulated"),
          checked<NumpyModel, NumpyEncoder, NumpyDecoder>("the NumPy notebook's"),
          checked<WolframModel, WolframEncoder, WolframDecoder>("the Wolfram article's")};
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

/// For each token the first row of the memory. It has no weights, and its pullback forgets M̄.
template <class Real>
struct FirstOfMemory {
  using declared = is::Unrestricted;
  using domain = Tokens;
  using codomain = Matrix<n, 1, Real>;
  using reads = Memory<codomain>;

  codomain operator()(const domain& x, const reads& M) const {
    codomain Y{x.sequences()};
    for (std::size_t s = 0; s < x.sequences().count(); ++s)
      for (std::size_t i = x.sequences().begin(s); i < x.sequences().end(s); ++i)
        Y.row(i) = M.rows.row(M.rows.sequences().begin(s));
    return Y;
  }
  auto value_and_pullback(const domain& x, const reads& M) const {
    return with_pullback((*this)(x, M), [](const codomain&, FirstOfMemory&, reads&) { return Nothing{}; });
  }
  static constexpr void weights(auto&&, auto&) {}
};
template <class Real>
using FirstOfSource = EncoderDecoder<Identity<1, Real>, FirstOfMemory<Real>>;

}  // namespace

TEST_CASE(
    "without positional encoding the encoders are equivariant under permutations, E(PX) = P E(X): exactly over the "
    "prime field, for all 24 permutations of n = 4 rows" *
    doctest::description(
        "formulated_encoder_is_equivariant, numpy_encoder_is_equivariant, wolfram_encoder_is_equivariant, "
        "unmasked_attention_is_equivariant, rowwise_is_equivariant, composition_is_equivariant, zip_is_equivariant")) {
  for (const Checked& of : models()) must_hold(permutation_fails(*of.encoder, 1));
}

TEST_CASE(
    "control: E∘PE is not equivariant for the formulated and the NumPy encoder, nor is PE alone, nor masked "
    "attention") {
  CHECK(fails(
      permutation_fails(OperationOf<FormulatedEncoderBehindPE<PrimeField>>{"the formulated encoder behind PE"}, 1)));
  CHECK(fails(
      permutation_fails(OperationOf<NumpyEncoderBehindPE<PrimeField>>{"the NumPy notebook's encoder behind PE"}, 2)));
  CHECK(fails(permutation_fails(OperationOf<PE<PrimeField>>{"PE"}, 3)));
  CHECK(fails(permutation_fails(OperationOf<CA<PrimeField>>{"CA"}, 4)));
}

TEST_CASE(
    "for random weights none of the encoders is autoregressive: the first of two rows sees the second, over the prime "
    "field") {
  for (const Checked& of : models()) {
    const auto failure = compare_parts(*of.encoder, Claim::autoregressive, 11);
    REQUIRE(fails(failure));
    CHECK(failure->n == 2);
    CHECK(failure->i == 1);
  }
}

TEST_CASE("cross-attention is rowwise in y, for one memory of n+1 rows: over the four arithmetics, n ≤ 6" *
          doctest::description("cross_attention_is_rowwise")) {
  must_hold(verdict_on<CrossMH>("MultiHead", Claim::rowwise));
}

TEST_CASE(
    "the models are autoregressive in y, T(x, y|i) = T(x, y)|i: over double, its bits and the prime field; their "
    "blocks alone, without embedding, positions and output, over sets; n ≤ 6 and n+1 rows of x" *
    doctest::description("encoder_decoder_is_autoregressive, Transformer_is_autoregressive")) {
  for (const Checked& of : models()) must_hold(verdict_on(of.model, Claim::autoregressive));
}

TEST_CASE(
    "row i of the decoders depends on no row of y after i, for all y, memories and weights: over sets of positions, "
    "n ≤ 6, memories of 1 and of n+1 rows; and over double, its bits and the prime field, memories of n+1 rows") {
  for (const Checked& of : models()) {
    must_hold(verdict_on(of.decoder, Claim::autoregressive));
    must_hold(trace_positions(*of.of_one_row, Claim::autoregressive));
  }
}

TEST_CASE(
    "for random weights every entry of row i of the decoders depends on each of the rows 1, …, i of y and on each row "
    "of the memory: if one of them is drawn anew, every entry changes (over the prime field, n ≤ 6, a memory of n+1 "
    "rows)") {
  for (const Checked& of : models()) must_hold(a_row_does_not_count(*of.decoder.in_field, Claim::autoregressive));
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
  for (const Checked& of : models()) {
    must_hold(verdict_on(of.model, Claim::of_each_sequence));
    must_hold(verdict_on(of.decoder, Claim::of_each_sequence));
  }
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
  for (const Checked& of : models()) must_hold(transpose_fails(*of.model.in_field, *of.in_duals, 11));
}

TEST_CASE(
    "the pullbacks of the models are linear, add to the gradient, and can be applied again: exactly over the prime "
    "field") {
  for (const auto requirement : {Requirement::linear, Requirement::adds, Requirement::again})
    for (const Checked& of : models()) must_hold(pullback_fails(*of.model.in_field, requirement, 14));
}

TEST_CASE(
    "control: with the mask upside down, as in the NumPy notebook's class, the pullbacks are right, and a decoder "
    "block is not autoregressive") {
  must_hold(transpose_fails<UpsideDownBlock, PrimeField>("a decoder block upside down", 13));
  const Verdict verdict = verdict_on<UpsideDownBlock>("a decoder block upside down", Claim::autoregressive);
  for (const auto& failure : {verdict.reals, verdict.bits, verdict.field, verdict.sets}) {
    REQUIRE(fails(failure));
    CHECK(failure->n == 2);
    CHECK(failure->i == 1);
  }
}

namespace {

/// X_i ↦ X_i + the sum of the rows of its memory. The gradient of the memory is overwritten; `right` adds to it.
template <class Real, bool right>
struct PlusMemory {
  using declared = is::Autoregressive;
  using domain = Matrix<n, d_model, Real>;
  using codomain = domain;
  using reads = Memory<domain>;

  codomain operator()(domain X, const reads& memory) const {
    for_each_pair(X.sequences(), memory, [&](std::size_t i, std::size_t r) { X.row(i) += memory.rows.row(r); });
    return X;
  }
  auto value_and_pullback(const domain& X, const reads& memory) const {
    return with_pullback((*this)(X, memory), [](const codomain& Y_bar, PlusMemory&, reads& memory_bar) {
      if (!right) memory_bar.rows = domain{memory_bar.rows.sequences()};
      for_each_pair(Y_bar.sequences(), memory_bar,
                    [&](std::size_t i, std::size_t r) { memory_bar.rows.row(r) += Y_bar.row(i); });
      return Y_bar;
    });
  }
  struct State {};
  codomain extend(State&, const domain& X, const reads& memory) const { return (*this)(X, memory); }
  static constexpr void weights(auto&&, auto&) {}

 private:
  static void for_each_pair(const Sequences& sequences, const reads& memory, const auto& action) {
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i)
        for (std::size_t r = memory.rows.sequences().begin(s); r < memory.rows.sequences().end(s); ++r) action(i, r);
  }
};
template <class Real, bool right>
using TwoPlusMemory = Concat<PlusMemory<Real, right>, PlusMemory<Real, right>>;
template <class Real>
using Overwriting = WithMemory<PlusMemory<Real, false>>;
template <class Real>
using TwoOverwriting = WithMemory<TwoPlusMemory<Real, false>>;
template <class Real>
using TwoAdding = WithMemory<TwoPlusMemory<Real, true>>;

/// Cross-attention, whose keys are what attention without a mask makes of the memory.
template <class Real>
using Encoded = Composition<MH<Real>, FromMemory<Same<Real>>>;
template <class Real>
using CrossOfEncoded =
    WithMemory<Attention<1, Unmasked, Times<"A", d_model, d_model, Real>, Encoded<Real>, FromMemory<Same<Real>>>>;

}  // namespace

TEST_CASE(
    "control: a pullback that overwrites the gradient of the memory is seen where two layers side by side read it, and "
    "not alone") {
  CHECK(fails(transpose_fails<TwoOverwriting, PrimeField>("two that overwrite", 13)));
  must_hold(transpose_fails<TwoAdding, PrimeField>("two that add", 13));
  must_hold(transpose_fails<Overwriting, PrimeField>("one that overwrites", 13));
}

TEST_CASE(
    "where keys are made of the memory alone, even by what is not autoregressive, extending by pieces gives "
    "the rows of the whole: exactly over the prime field") {
  static_assert(autoregressive<CrossOfEncoded<double>> && !autoregressive<MH<double>>);
  must_hold(extension_fails(*operation<CrossOfEncoded<PrimeField>, extension_face>("cross-attention"), 11));
}

TEST_CASE(
    "control: a pullback that forgets the memory is seen, though there are no weights and the targets are tokens") {
  const auto report = check<FirstOfSource>("FirstOfSource");
  CHECK(report.failed() > 0);
  for (const auto& line : report.lines())
    if (line.failure) CHECK(line.statement.starts_with("the pullback "));
}
