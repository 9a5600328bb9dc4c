// SPDX-License-Identifier: MIT
// Claim 4. Every layer is exactly what its type says. A layer that is called rowwise is rowwise, and one that is called
// autoregressive is autoregressive. A layer that is not called so is not. The sequences of a batch do not affect
// each other. (Article: each section's "note that it is …".)
//
// tlm::check runs once over the list of layers: every leaf, and layers made of a few leaves. Blocks and models follow
// in claim 5. The statements about pullbacks and extension are claimed here, too. Claims 8 and 9 are about formulas of
// generic parts, which stand for any layers.
//
// The article calls PE rowwise. By its own definition it is not: a sequence of one row always receives the first row of
// PE, so PE(X_i) ≠ PE(X)_i. The smallest case is n = 2, i = 2. Autoregressive is all that T_LM needs.

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "controls.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

/// The one run over the list: what tlm::check says about each layer.
const std::vector<Report>& reports() {
  static const std::vector<Report> all = [] {
    std::vector<Report> run;
    for_each(layers,
             [&]<template <class> class Layer>(Listed<Layer> listed) { run.push_back(check<Layer>(listed.name)); });
    return run;
  }();
  return all;
}

/// What is said where all numbers are weights.
constexpr std::string_view held = "`weights` visits every number";

/// Requires that each of these statements holds for every layer for which it was checked, and that there were this
/// many.
void must_hold_of_layers(std::size_t count, std::initializer_list<std::string> statements) {
  for (const std::string& statement : statements) {
    std::size_t checked = 0;
    for (const Report& report : reports()) checked += must_hold(report, statement);
    INFO("layers of which was checked: ", statement);
    REQUIRE(checked == count);
  }
}

/// Requires that a claim holds in all of its ways for so many layers, and over sets of positions for those of rows.
void must_hold_of_layers(std::size_t count, std::size_t of_rows, const std::string& claim) {
  for (const char* way : {"double within", "float and double to the last bit", "the prime field"})
    must_hold_of_layers(count, {claim + way});
  must_hold_of_layers(of_rows, {claim + "sets of positions"});
}

/// How many layers of the list are of this kind.
template <class Such>
std::size_t count_of(const Such& such) {
  std::size_t count = 0;
  for_each(layers,
           [&]<template <class> class Layer>(Listed<Layer>) { count += such(static_cast<Layer<double>*>(nullptr)); });
  return count;
}

const std::size_t all = std::tuple_size_v<decltype(layers)>,
                  of_rows = count_of([]<class T>(T*) { return !reads_tokens<T>; }),
                  called_rowwise = count_of([]<class T>(T*) { return rowwise<T>; }),
                  rowwise_of_rows = count_of([]<class T>(T*) { return rowwise<T> && !reads_tokens<T>; }),
                  called_autoregressive = count_of([]<class T>(T*) { return autoregressive<T>; }),
                  autoregressive_of_rows = count_of([]<class T>(T*) { return autoregressive<T> && !reads_tokens<T>; }),
                  temporary_leaves = count_of([]<class T>(T*) { return rules::Leaf<T> && TakesTemporaries<T>; });

}  // namespace

TEST_CASE(
    "each layer of the list that is called rowwise is rowwise: over the four arithmetics (of tokens not over sets), n "
    "≤ 6" *
    doctest::description(
        "Embedding_is_rowwise, TiedEmbedding_is_rowwise, Normalization_is_rowwise, LayerNorm_is_rowwise, "
        "Times_is_rowwise, Plus_is_rowwise, TiedOutput_is_rowwise, ReLU_is_rowwise, GELU_is_rowwise, "
        "TanhGELU_is_rowwise, Dropout_is_rowwise, Softmax_is_rowwise, identity_is_rowwise, composition_is_rowwise, "
        "residual_is_rowwise, tied_is_rowwise")) {
  must_hold_of_layers(called_rowwise, rowwise_of_rows, " is rowwise: ");
}

TEST_CASE(
    "for random weights every entry of row i of a rowwise layer of the list depends on row i of X: if that row is "
    "drawn anew, every entry changes (over the prime field, n ≤ 6)") {
  for_each(layers, []<template <class> class Layer>(Listed<Layer> listed) {
    if constexpr (rowwise<Layer<double>>)
      must_hold(a_row_does_not_count(*operation<Layer<PrimeField>, all_faces>(listed.name), Claim::rowwise));
  });
}

TEST_CASE(
    "each layer of the list that is called autoregressive is autoregressive: over the four arithmetics (of tokens not "
    "over sets), n ≤ 6 (no theorem for the bias, and for what appends t or indicators of t)" *
    doctest::description("PositionalEncoding_is_autoregressive, ConstantPositionalEncoding_is_autoregressive, "
                         "SinesThenCosines_is_autoregressive, TiedPositions_is_autoregressive, "
                         "rowwise_is_autoregressive, concat_is_autoregressive, softmax_kernel_is_causal, "
                         "biased_softmax_kernel_is_causal, product_is_autoregressive")) {
  must_hold_of_layers(called_autoregressive, autoregressive_of_rows, " is autoregressive: ");
}

TEST_CASE(
    "a layer of the list that is not called rowwise, or not called autoregressive, is not: the claim fails over at "
    "least one of the four arithmetics, n ≤ 6 (cross-attention is not in the list)") {
  for (const char* called : {" is not called rowwise", " is not called autoregressive"}) {
    std::size_t not_called = 0;
    for (const Report& report : reports())
      for (const Report::Line& line : report.lines())
        if (line.note && line.statement.find(called) != std::string::npos) {
          ++not_called;
          REQUIRE_MESSAGE(line.statement.find(", and is not: ") != std::string::npos, line.statement);
        }
    REQUIRE(not_called ==
            all - (called == std::string_view(" is not called rowwise") ? called_rowwise : called_autoregressive));
  }
}

TEST_CASE(
    "the sequences of a stack do not affect each other, for each layer of the list: over the four arithmetics (of "
    "tokens not over sets), in stacks of 2 and 5 sequences of 0 to 6 rows") {
  must_hold_of_layers(all, of_rows, "the sequences of a stack do not affect each other: ");
}

TEST_CASE(
    "the pullback of each layer of the list is the transpose of the derivative: exactly over dual numbers of the prime "
    "field, in stacks of 1, 2 and 5 sequences of 0 to 6 rows (theorems for Em, PE, N, LayerNorm, X×A, X+K, ReLU where "
    "it is not at 0, GELU_tanh, Softmax, H, and for ∘, Res and Concat of such; none for the others)" *
    doctest::description("Embedding_transposes, PositionalEncoding_transposes, Times_transposes, Plus_transposes, "
                         "ReLU_transposes, TanhGELU_transposes, "
                         "Normalization_transposes, LayerNorm_transposes, standardized_transposes, Softmax_transposes, "
                         "each_row_transposes, "
                         "by_position_transposes, softmax_kernel_transposes, product_transposes, columns_transpose, "
                         "heads_transpose, concat_transposes, composition_transposes, residual_transposes")) {
  must_hold_of_layers(all, {"value_and_pullback(X) begins with T(X): the prime field",
                            "the pullback is the transpose of the derivative: dual numbers of the prime field"});
}

TEST_CASE(
    "in double the pullback of each layer of the list is the transpose of the derivative within 1e-12, and agrees with "
    "central differences within 1e-6 (the former also where zeros and equal rows are among the numbers)") {
  must_hold_of_layers(all, {"value_and_pullback(X) begins with T(X): double",
                            "the pullback is the transpose of the derivative: dual numbers of double",
                            "the pullback agrees with central differences"});
}

TEST_CASE(
    "value and pullback of each layer of the list are in float what they are in double, within a thousandth of the "
    "largest number or of 1, in stacks of 1, 2 and 5 sequences of 0 to 6 rows") {
  must_hold_of_layers(all, {"value and pullback in float are those in double"});
}

TEST_CASE(
    "each composition, stack, sum and concatenation of the list is what its form says of its parts: exactly over "
    "the prime field, in stacks of 1, 2 and 5 sequences of 0 to 6 rows") {
  must_hold_of_layers(count_of([]<class T>(T*) { return FormIsKnown<T>; }), {" is what its form says"});
}

TEST_CASE(
    "the pullback of each layer of the list is linear, adds to the gradient, and can be applied again: exactly over "
    "the prime field") {
  must_hold_of_layers(
      all, {"the pullback is linear", "the pullback adds to the gradient", "the pullback can be applied again"});
}

TEST_CASE(
    "the pullback of a leaf of the list that takes temporary layers does not refer to it: exactly over the prime "
    "field") {
  must_hold_of_layers(temporary_leaves, {"the pullback does not refer to the weights"});
}

TEST_CASE(
    "the pullback of each autoregressive layer of the list is anti-causal: X̄_i depends on no Ȳ_j with j < i; and "
    "X̄_i on Ȳ_i alone, if it is rowwise: over sets of positions, not of tokens, n ≤ 6") {
  must_hold_of_layers(autoregressive_of_rows, {"of X̄ depends on no row of Ȳ"});
}

TEST_CASE(
    "extending each autoregressive layer of the list by pieces gives the rows of the whole, for all ways to split n ≤ "
    "6 rows: exactly over the prime field, and in double within 1e-12 (no theorem for H with a bias, and for what "
    "appends t or indicators of t)" *
    doctest::description("extending_is_computing_at_once, each_row_extension, by_position_extension, "
                         "Composition_extension, Zip_extension, Product_extension")) {
  must_hold_of_layers(called_autoregressive, {"however split: the prime field", "however split: double"});
}

TEST_CASE(
    "over sets of positions, too, extending each autoregressive layer of the list by pieces gives the rows of the "
    "whole (without layers of tokens)") {
  must_hold_of_layers(autoregressive_of_rows, {"however split: sets of positions"});
}

TEST_CASE(
    "each layer of the list holds its weights and no other numbers, except four that hold a table that is not a "
    "weight") {
  std::vector<std::string> with_tables;
  std::size_t checked = 0;
  for (const Report& report : reports())
    for (const Report::Line& line : report.lines())
      if (says(line, held)) {
        ++checked;
        if (line.failure) with_tables.push_back(report.layer());
      }
  CHECK(checked == all);
  CHECK(with_tables ==
        std::vector<std::string>{"W_p", "W_p, sines then cosines", "(x_t, t)", "(x_t, indicators of t)"});
}

namespace {

/// X + B, whose B begins at 1.
template <class Real>
struct BeginsAt1 : Plus<"B", 2, Real> {
  BeginsAt1() {
    for (const auto& weight : parameters(static_cast<Plus<"B", 2, Real>&>(*this)))
      for (Real& w : weight) w = Real(1);
  }
};

/// Says three of a stack, and has two.
struct TooFew : Stack<Times<"A", 2, 2, PrimeField>, 2> {
  using form = forms::Stack<Times<"A", 2, 2, PrimeField>, 3>;
};

/// Says Concat of two parts, and has the columns of one.
struct TooNarrow : Concat<Times<"A", 2, 2, PrimeField>, Times<"B", 2, 2, PrimeField>> {
  using codomain = Matrix<n, 2, PrimeField>;
};

}  // namespace

TEST_CASE("control: a form with more columns than its layer, or of more parts, is seen") {
  const Input<PrimeField> X{{}, Stacked<PrimeField>{Matrix<n, 2, PrimeField>{Sequences{3}, PrimeField(1)}}};
  CHECK_THROWS_WITH_AS(value_by_form(TooNarrow{}, X), "a layer has other columns than its form says", std::logic_error);
  CHECK_THROWS_WITH_AS(value_by_form(TooFew{}, X), "the layer has 2 parts, and its form names 3", std::logic_error);
}

TEST_CASE("control: a new layer that is not 0 is seen") {
  std::size_t seen = 0;
  const Report report = check<BeginsAt1>("X + B");
  for (const Report::Line& line : report.lines())
    if (says(line, "a new X + B is 0")) seen += fails(line.failure);
  CHECK(seen == 1);
}

TEST_CASE("everything else that tlm::check says of the layers of the list holds") {
  for (const Report& report : reports())
    for (const Report::Line& line : report.lines())
      if (!says(line, held)) must_hold(line.failure);
}

TEST_CASE(
    "N(x + c·1) = N(x), and the same holds for LayerNorm: exactly over the prime field, n = 6; and N(c·x) ≠ N(x) "
    "(control)" *
    doctest::description("N_of_shifted, LayerNorm_of_shifted")) {
  for (const auto& T : {operation<N<PrimeField>, all_faces>("N"), operation<LN<PrimeField>, all_faces>("LayerNorm")})
    redrawing(5, [&](Generator& generator) {
      const auto layer = drawn(*T, generator);
      const auto X = draw_input(*T, Sequences{greatest_n}, generator, {});
      auto moved = X, scaled = X;
      for (std::size_t i = 0; i < greatest_n; ++i) {
        const PrimeField c = PrimeField::random(generator);
        for (std::size_t j = 0; j < d_model; ++j) moved.target(i, j) += c, scaled.target(i, j) *= c;
      }
      must_hold(
          first_difference(failure_of("N(x + c·1) = N(x)", "N(x + c·1) is", "N(x) is"), (*layer)(moved), (*layer)(X)));
      CHECK(first_difference({}, (*layer)(scaled), (*layer)(X)));
      return true;
    });
}

TEST_CASE("PE is not rowwise if its rows 1 and 2 differ, contrary to what the article says: PE(X_2) ≠ PE(X)_2" *
          doctest::description("PE_is_not_rowwise")) {
  const auto failure = compare_parts(*operation<PE<PrimeField>, all_faces>("PE"), Claim::rowwise, 11);
  REQUIRE(fails(failure));
  CHECK(failure->n == 2);
  CHECK(failure->i == 2);
}

TEST_CASE(
    "attention without a mask is not autoregressive in general: the first of two rows sees the second (random "
    "weights, over each of the four arithmetics)" *
    doctest::description("attention_without_a_mask_is_not_autoregressive")) {
  const Verdict verdict = verdict_on(subject<MH, all_faces>("MultiHead"), Claim::autoregressive);
  for (const auto& failure : {verdict.reals, verdict.bits, verdict.field, verdict.sets}) {
    REQUIRE(fails(failure));
    CHECK(failure->n == 2);
    CHECK(failure->i == 1);
  }
}

TEST_CASE("X ↦ M×K, where M is the memory, is independent of X: over the four arithmetics, n ≤ 6" *
          doctest::description("memory_is_constant")) {
  static_assert(constant<FromMemory<Times<"K", d_model, d_ff>>> && !constant<N<double>>);
  must_hold(verdict_on<MemoryTimesK>("M×K", Claim::constant));
}

TEST_CASE("control: N is not independent of X, over each of the four arithmetics") {
  const Verdict verdict = verdict_on(subject<N, all_faces>("N"), Claim::constant);
  for (const auto& failure : {verdict.reals, verdict.bits, verdict.field, verdict.sets}) REQUIRE(fails(failure));
  CHECK(verdict.sets->entry == "row 1, column 1");
}

TEST_CASE("control: a mean over the columns of the whole stack makes sequences affect each other") {
  const Verdict verdict = verdict_on<ColumnNormalization>("a normalisation over columns", Claim::of_each_sequence);
  for (const auto& failure : {verdict.reals, verdict.bits, verdict.field, verdict.sets}) CHECK(fails(failure));
}

namespace {

/// A control, with the smallest counter-example "n,i" that each arithmetic sees, or "" if it can see none.
template <template <class> class Control>
void check_control(const std::string& name, const std::string& a, const std::string& b, const std::string& c,
                   const std::string& d) {
  const Verdict verdict = verdict_on<Control>(name, Claim::autoregressive);
  const auto seen = [](const std::optional<Failure>& failure) {
    if (!failure) return std::string();
    if (!fails(failure)) return failure->remark;
    return std::to_string(failure->n.value()) + "," + std::to_string(failure->i.value());
  };
  INFO(name, verdict);
  CHECK(seen(verdict.reals) == a);
  CHECK(seen(verdict.bits) == b);
  CHECK(seen(verdict.field) == c);
  CHECK(seen(verdict.sets) == d);
}

}  // namespace

TEST_CASE(
    "controls: T(X|i) = T(X)|i fails for each of eight planted errors, in the arithmetics that can see it (a mask that "
    "multiplies by 0, and the maximum of the full row, are right over ℝ: these fail by NaN or overflow, or where exp "
    "obeys no "
    "law)") {
  // Which arithmetic can refute which error. Row 1 of attention sees only itself, with the weight exp(s−m)/exp(s−m) =
  // 1, whatever the scale and the maximum are. So over (a) and (c) errors in these show in row 2 of 3 at the earliest.
  // Over (b) a large hidden maximum makes the weight 0/0: with the scores that are drawn, from three rows on.
  // clang-format off
  //                                                                        (a) double  (b) bits  (c) field  (d) sets
  check_control<UpsideDownMask>("a mask upside down",                         "2,1",     "2,1",    "2,1",     "2,1");
  check_control<OffByOneMask>("a mask j ≤ min(i+1, n)",                       "2,1",     "2,1",    "2,1",     "2,1");
  check_control<AdditiveMask>("a mask by adding −1e9",                        "",        "2,1",    "2,1",     "2,1");
  check_control<MaskByZero>("a mask by multiplying by zero",                  "",        "2,1",    "",        "");
  check_control<FullRowMaximum>("the maximum of the full row",                "",        "3,1",    "3,2",     "2,1");
  check_control<ColumnNormalization>("a normalisation over columns",          "2,1",     "2,1",    "2,1",     "2,1");
  check_control<DividedByRootN>("attention divided by √n",                    "3,2",     "",       "3,2",     "");
  check_control<PositionsFromTheRight>("positions counted from the right",    "2,1",     "",       "2,1",     "");
  // clang-format on
}

TEST_CASE(
    "control: in double a mask by multiplying by zero lets a hidden score of 800 through: exp(800) = ∞ and "
    "0·∞ = NaN") {
  MaskByZero<double> CA;
  CA.Q.W(0, 0) = CA.K.W(0, 0) = CA.V.W(1, 1) = 1;
  Matrix<n, d_model, double> X{Sequences{2}};
  X(0, 0) = 1;
  X(1, 0) =
      800 * std::sqrt(double(MaskByZero<double>::d_head));  // row 1 sees itself with 1/c, and its hidden score is 800
  X(0, 1) = 1, X(1, 1) = 2;                                 // the values that they look at
  CHECK(CA(X | 1)(0, 1) == 1);
  CHECK(std::isnan(CA(X)(0, 1)));
  OneHead<double> right;
  weight<"W_Q">(right) = CA.Q.W;
  weight<"W_K">(right) = CA.K.W;
  weight<"W_V">(right) = CA.V.W;
  CHECK(right(X)(0, 1) == 1);
  CHECK(right(X | 1)(0, 1) == 1);
}
