// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/layers/embedding.hpp>
#include <tlm/layers/softmax.hpp>

#include "lying.hpp"

/// tlm::check, applied to layers that are right and to layers that are wrong in one way each. Its reports are compared
/// with what they should say.
namespace tlm::tests::in_checking {

using lying::Lie, lying::RunningSum, lying::Square, lying::report_on;

namespace {

template <class Real>
using SumSoFar = RunningSum<is::Autoregressive, Real>;
template <class Real>
using DeclaredRowwise = RunningSum<is::Rowwise, Real>;
template <class Real>
using DeclaredUnrestricted = RunningSum<is::Unrestricted, Real>;
template <class Real>
using RightSquare = Square<is::Rowwise, Real>;
template <class Real>
using DeclaredAutoregressive = Square<is::Autoregressive, Real>;
template <class Real>
using DeclaredConstant = Square<is::Constant, Real>;

/// The same with a weight that is not visited.
template <class Real>
struct SquareWithMore : RightSquare<Real> {
  Matrix<2, 3, Real> more;
};
/// The same where a temporary one is not refused, to which its pullback would refer.
template <class Real>
struct SquareTemporarily : RightSquare<Real> {
  auto value_and_pullback(const Matrix<n, 3, Real>& X) const { return RightSquare<Real>::value_and_pullback(X); }
};

/// X sin ½, and its derivative as −sin(−½), which is another number of the prime field.
template <class Real>
struct OddSine {
  using declared = is::Rowwise;
  using domain = Matrix<n, 3, Real>;
  using codomain = domain;

  codomain operator()(domain X) const { return scaled(std::move(X), Real(std::sin(0.5))); }
  auto value_and_pullback(domain X) const {
    return with_pullback((*this)(std::move(X)),
                         [](codomain Y_bar, OddSine&) { return scaled(std::move(Y_bar), -Real(std::sin(-0.5))); });
  }
  static constexpr void weights(auto&&, auto&...) {}

 private:
  static domain scaled(domain X, const Real& factor) {
    for (std::size_t e = 0; e < X.rows() * 3; ++e) X.data()[e] *= factor;
    return X;
  }
};

template <class Real>
using WithoutWeights = Softmax<3, Real>;
template <class Real>
using OfTokens = Embedding<5, 3, Real>;

/// The report on the sum that tells this lie.
Report check_sum(Lie lie, const checking::Limits& limits = {}) { return report_on<SumSoFar>(lie, "Sum", limits); }

/// The first line that fails, with its counter-example; and that some line holds beside it.
std::string first_failure(const Report& report) {
  CHECK(!report.holds());
  for (const auto& line : report.lines())
    if (line.failure) return line.statement + printed(*line.failure);
  return "";
}

/// Whether exactly the statements fail that begin with one of these words.
bool fails_only(const Report& report, std::initializer_list<std::string_view> words) {
  bool only = true;
  for (const auto& line : report.lines()) {
    bool named = false;
    for (const auto& word : words) named |= line.statement.starts_with(word);
    only &= named || !line.failure;
  }
  return only;
}

/// Requires that for the sum that tells this lie exactly those statements fail that begin with one of these words.
/// Requires also that the report has each of these parts.
void must_fail(Lie lie, std::initializer_list<std::string_view> words, std::initializer_list<std::string_view> parts) {
  const auto report = check_sum(lie);
  INFO(report);
  CHECK(!report.holds());
  CHECK(fails_only(report, words));
  for (const auto& part : parts) CHECK(printed(report) == Containing{std::string(part)});
}

}  // namespace

TEST_CASE("what is right holds") {
  const auto sum = check_sum(Lie::none);
  INFO(sum);
  CHECK(sum.holds());
  CHECK(printed(sum) ==
        Containing{"note:  Sum is not called rowwise, and is not: T(X_i) = T(X)_i fails over double at n = 2, "
                   "i = 2\n"});
  CHECK(printed(sum) == Containing{"holds: Sum is autoregressive: double within 1e-12, n ≤ 6\n"});
  CHECK(printed(sum) == Containing{"holds: Sum is autoregressive: the prime field, exactly, n ≤ 6\n"});
  CHECK(printed(sum) == Containing{"holds: the pullback is linear"});
  CHECK(printed(sum) == Containing{"holds: extending in pieces"});

  const auto square = check<RightSquare>("Square", {.rows = 4});
  INFO(square);
  CHECK(square.holds());
  CHECK(printed(square) == Containing{"holds: Square is rowwise: double within 1e-12, n ≤ 4\n"});
}

TEST_CASE("a future that is seen") {
  const auto report = check_sum(Lie::sees_the_next_row);
  const auto text = first_failure(report);
  CHECK(text == Beginning{"Sum is autoregressive: double within 1e-12, n ≤ 6\n"
                          "  T(X|i) = T(X)|i — fails for Sum\n"
                          "  seen over double at n = 2, i = 1, in row 1, column 1:\n"
                          "    T(X|i) gives "});
  CHECK(text == Containing{"\n    T(X)|i gives "});
  CHECK(printed(report) == Containing{"it depends on the rows {1, 2}\n    and may depend on {1}"});
}

TEST_CASE("a number of rows that is seen") {
  const auto report = check_sum(Lie::divides_by_n);
  CHECK(printed(report) == Containing{"FAILS: Sum is autoregressive: the prime field, exactly, n ≤ 6\n"});
  CHECK(printed(report) ==
        Containing{"holds: Sum is autoregressive: sets of positions at one n"});  // it is not seen at one n
}

TEST_CASE("a flipped sign in the pullback") {
  must_fail(Lie::flips_the_sign, {"the pullback is the transpose", "the pullback agrees with central differences"},
            {"FAILS: the pullback is the transpose of the derivative: dual numbers of the prime field, exactly",
             "\n  ⟨Jv, w⟩ = ⟨v, Jᵀw⟩ — fails for Sum\n"
             "  seen over dual numbers of the prime field, in a sequence of 1 row, in X, row 1, column 1:\n"
             "    the pullback returns ",
             "\n    the derivative is ", "in X, row 1, column 1:\n    by differences the derivative is "});
  CHECK_FALSE(first_failure(check_sum(Lie::flips_the_sign)) == Containing{"n ="});
}

TEST_CASE("a gradient that is forgotten, and one that is overwritten") {
  must_fail(Lie::forgets_the_gradient,
            {"the pullback is the transpose", "the pullback agrees with central differences"},
            {"in w, row 1, column 1:", "the pullback returns 0"});
  must_fail(Lie::overwrites_the_gradient, {"the pullback adds to the gradient"},
            {"in w, row 1, column 1:\n    w₂ makes of the gradient that w₁ has left "});
}

TEST_CASE("a pullback that is not linear") {
  const std::string linear =
      "\n  pullbacks are linear — fails for Sum\n"
      "  seen over the prime field, in a sequence of 1 row, in ";
  must_fail(Lie::adds_1_to_x_bar, {"the pullback "}, {linear + "X, row 1, column 1:\n    for a·w₁ + w₂ it returns "});
  must_fail(Lie::adds_1_to_the_gradient, {"the pullback "}, {linear + "w, row 1, column 1:\n"});
}

TEST_CASE("a pullback that returns other rows than X has") {
  must_fail(Lie::returns_a_row_more, {"the pullback ", "value and pullback in float"},
            {"it throws: the number of rows of sequence 1 is 1 in X, but 2 in the X̄ that the pullback returns"});
}

TEST_CASE("an X̄ that is added to what was never set") {
  must_fail(Lie::adds_x_bar_to_what_was_never_set, {"the pullback ", "value and pullback in float"},
            {" nan\n", "\nnote:  nan may be an entry that was never set: M{sequences} sets none, "});
  CHECK_FALSE(printed(check_sum(Lie::sees_the_next_row)) == Containing{"nan may be"});  // which was put in
  CHECK_FALSE(detail::unset_is_nan);
}

TEST_CASE("a pullback that can be applied only once") {
  must_fail(
      Lie::flips_the_sign_the_second_time, {"the pullback "},
      {"FAILS: the pullback can be applied again: the prime field, exactly, and double to the last bit",
       "\n  a pullback can be applied again — fails for Sum\n"
       "  seen over the prime field, in a sequence of 1 row, in X, row 1, column 1:\n    applied again, it returns "});
}

TEST_CASE("a value that is another") {
  must_fail(Lie::begins_with_another_value, {"value_and_pullback(X) begins"}, {"    value_and_pullback(X).value is "});
}

TEST_CASE("an extension that forgets") {
  must_fail(Lie::does_not_move_on, {"extending in pieces"},
            {"seen over double, in a sequence of 2 rows, computed in pieces of 1 + 1 rows, in row 2, column 1:\n"
             "    extending by the piece gives "});
}

TEST_CASE("a layer is not asked to go on with other sequences than before, and its state is as it was") {
  Generator generator{5};
  using Sum = RunningSum<is::Autoregressive, double>;
  const auto layer = checking::draw_layer<Sum>(generator);
  const Sum::domain first{Sequences::of_lengths({1, 1, 1}), 1.0}, other{Sequences::of_lengths({1, 1}), 1.0};
  tlm::State<Sum> state, untouched;
  extend(layer, state, first);
  extend(layer, untouched, first);
  CHECK_THROWS_WITH_AS(extend(layer, state, other), "a stack of 3 sequences cannot be continued by 2",
                       std::invalid_argument);
  CHECK(extend(layer, state, first) == extend(layer, untouched, first));
}

TEST_CASE("the weights that are visited are listed, and how many lines fail") {
  CHECK(printed(check<RightSquare>("Square", {.rows = 2})) ==
        Containing{"note:  Square has the weights w (1×3)\nholds: `weights` visits every number that a new Square "
                   "holds\n"});
  const auto right = check_sum(Lie::none, {.rows = 3});
  CHECK(right.failed() == 0);
  CHECK(printed(right).ends_with("\nall " + std::to_string(right.statements()) + " statements hold\n"));
  CHECK(right.statements() + 3 == right.lines().size());  // with the notes
  const auto wrong = check_sum(Lie::overwrites_the_gradient, {.rows = 3});
  CHECK(wrong.failed() == 1);
  CHECK(printed(wrong) == Containing{"\n1 of " + std::to_string(wrong.statements()) +
                                     " statements fail\n"});  // over the field, but nowhere else was it asked
  CHECK_FALSE(printed(wrong) == Containing{"note:  over the prime field alone"});
  CHECK(printed(check<OddSine>("Sine")) == Containing{" statements fail\nnote:  over the prime field alone"});
  const auto everywhere = check_sum(Lie::mixes_sequences, {.rows = 3});
  CHECK(everywhere.failed() > 1);
  CHECK(printed(everywhere)
            .ends_with(" statements fail\nnote:  begin with the first that fails: what is below may fail "
                       "for the same reason\n"));
  CHECK_FALSE(printed(everywhere) == Containing{"over the prime field alone"});
}

TEST_CASE("a weight that is not visited") {
  const auto report = check<SquareWithMore>("Square", {.rows = 2});
  INFO(report);
  CHECK(report.failed() == 1);
  CHECK(first_failure(report) ==
        Containing{
            "`weights` visits every number that a new Square holds\n  a layer holds its weights and no other numbers — "
            "fails for Square:\n    it holds 9 numbers\n    `weights` visits the weights w (1×3): 3\n  what is not"});
}

TEST_CASE("a pullback that refers to a temporary layer") {
  const auto report = check<SquareTemporarily>("Square", {.rows = 2});
  INFO(report);
  CHECK(report.failed() == 1);
  CHECK(first_failure(report) ==
        Containing{"a pullback that refers to its layer refuses a temporary one — fails for Square"});
  CHECK(first_failure(report) == Containing{"return tlm::refuse_temporary<Square>(); } beside it"});
  CHECK_FALSE(printed(check<RightSquare>("Square", {.rows = 2})) == Containing{"temporary"});
  CHECK(printed(check<WithoutWeights>("Softmax", {.rows = 2})) ==
        Containing{"holds: the pullback does not refer to the weights of Softmax, which may be a temporary"});
}

TEST_CASE("sequences that mix") {
  const auto report = check_sum(Lie::mixes_sequences);
  const auto text = first_failure(report);
  CHECK(text == Beginning{"the sequences of a stack do not affect each other: double within 1e-12"});
  CHECK(text ==
        Containing{
            "seen over double, in a stack of 1 and 1 rows, in row 2, column 1:\n    T of the sequence alone gives "});
  CHECK(printed(report) == Containing{"it depends on the rows {1, 2}\n    and may depend on {2}"});
}

TEST_CASE("too much declared") {
  CHECK(first_failure(check<DeclaredRowwise>("Sum")) ==
        Containing{"T(X_i) = T(X)_i — fails for Sum\n  seen over double at n = 2, i = 2, in row 2, "
                   "column 1:\n    T(X_i) gives "});
  CHECK(first_failure(check<DeclaredConstant>("Square")) ==
        Containing{"T(X) does not depend on X — fails for Square\n  seen over double at n = 1"});
}

TEST_CASE("too little declared is a note") {
  const auto square = check<DeclaredAutoregressive>("Square");
  CHECK(square.holds());
  CHECK(printed(square) ==
        Containing{"note:  Square is not called rowwise, though as far as running can tell it is, n ≤ 6\n"});
  const auto sum = check<DeclaredUnrestricted>("Sum");
  CHECK(sum.holds());
  CHECK(printed(sum) ==
        Containing{"note:  Sum is not called autoregressive, though as far as running can tell it is, n ≤ 6\n"});
}

TEST_CASE("a layer that throws") {
  const auto report = check_sum(Lie::throws_after_two_rows);
  CHECK(first_failure(report) ==
        Containing{
            "T(X|i) = T(X)|i — fails for Sum\n  seen over double at n = 3\n  it throws: more than two rows\n  seed 1"});
  for (const auto& line : report.lines())
    if (line.failure) CHECK(printed(*line.failure) == Containing{"it throws: more than two rows"});
  CHECK(check_sum(Lie::throws_after_two_rows, {.rows = 1}).lines().size() > 10);
}

namespace {

/// A token's number in unary: nothing to differentiate by.
template <class Real>
struct Unary {
  using declared = is::Rowwise;
  using domain = Tokens;
  using codomain = Matrix<n, 5, Real>;
  codomain operator()(const domain& x) const {
    codomain Y{x.sequences(), Real(0)};
    for (std::size_t i = 0; i < x.rows(); ++i)
      for (std::size_t j = 0; j < std::size_t(x(i, 0)); ++j) Y(i, j) = Real(1);
    return Y;
  }
  auto value_and_pullback(const domain& x) const {
    return with_pullback((*this)(x), [](const codomain&, Unary&) { return Nothing{}; });
  }
  static constexpr void weights(auto&&, auto&...) {}
};

}  // namespace

TEST_CASE("tokens carry no tags and have no derivatives, and the report does not claim so") {
  const auto report = check<Unary>("Unary");
  INFO(report);
  CHECK(report.holds());
  CHECK_FALSE(printed(report) == Containing{"sets of positions"});
  CHECK_FALSE(printed(report) == Containing{"NaN"});
  CHECK_FALSE(printed(report) == Containing{"transpose"});
  CHECK(printed(report) ==
        Containing{"note:  Unary has no weights and reads tokens: there is nothing with respect to which to"});
}

TEST_CASE("a layer without weights, and one that reads tokens, are differentiated by what they have") {
  for (const auto& report : {check<WithoutWeights>("Softmax", {.rows = 2}), check<OfTokens>("Em", {.rows = 2})}) {
    INFO(report);
    CHECK(report.holds());
    CHECK(printed(report) ==
          Containing{"holds: the pullback is the transpose of the derivative: dual numbers of double"});
  }
}

TEST_CASE("limits without rows, and with too many") {
  CHECK_THROWS_WITH_AS(check<Unary>("Unary", {.rows = 0}), "a layer is checked on 1 to 31 rows, not on 0",
                       std::invalid_argument);
  CHECK_THROWS_AS(check<Unary>("Unary", {.rows = 32}), std::invalid_argument);
}

TEST_CASE("31 rows are split in some ways, and the report says so") {
  CHECK(checking::some_splits(7).size() == 7);
  CHECK(checking::shown(checking::some_splits(3)[0]) == "1 + 1 + 1 rows");
  CHECK(checking::shown(checking::some_splits(3)[2]) == "2 + 1 rows");
  const auto report = check_sum(Lie::none, {.rows = 31});
  CHECK(report.holds());
  CHECK(
      printed(report) ==
      Containing{"however split: double within 1e-12, in all ways for n ≤ 6, in two and one by one beyond, n ≤ 31 and "
                 "a stack of"});
}

TEST_CASE("all ways to split") {
  CHECK(checking::all_splits({1}).size() == 1);
  CHECK(checking::all_splits({6}).size() == 32);
  CHECK(checking::shown(checking::all_splits({3})[0]) == "3 rows");
  CHECK(checking::shown(checking::all_splits({3})[1]) == "2 + 1 rows");
  CHECK(checking::all_splits({1, 1}).size() == 3);
  CHECK(checking::shown(checking::all_splits({1, 1})[1]) == "(0, 1) + (1, 0) rows");
  CHECK(checking::all_splits({3, 2}).size() == 76);
}

TEST_CASE("a failure prints nothing that does not apply") {
  CHECK(printed(Failure{.claim = "a claim", .layer = "T", .arithmetic = "double"}) ==
        "\n  a claim — fails for T\n  seen over double");
  CHECK(printed(Failure{.claim = "a claim",
                        .layer = "T",
                        .arithmetic = "float",
                        .seed = 7,
                        .n = 3,
                        .entry = "row 1",
                        .left = {"here is", "1"},
                        .right = {"there is", "2"}}) ==
        "\n  a claim — fails for T\n  seen over float at n = 3, in row 1:\n    here is 1\n    there is 2\n  seed 7");
}

// --- The parts of the checks, each with what it must refuse -------------------------------------------------------------

TEST_CASE("doubles agree within 1e-12 of their size; all else agrees if it is equal") {
  using checking::Agree, checking::PrimeField, checking::SameBits;
  constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
  CHECK((Agree{}(1.0, 1 + 0.9e-12) && !Agree{}(1.0, 1 + 1.1e-12)));
  CHECK((Agree{}(-1e6, -1e6 + 0.9e-6) && !Agree{}(-1e6, -1e6 + 1.1e-6)));
  CHECK((Agree{}(1e-12, 0.0) && !Agree{}(NaN, NaN) && !Agree{}(1.0, NaN)));
  CHECK((Agree{}(1.0f, 1.0f) && !Agree{}(1.0f, std::nextafter(1.0f, 2.0f))));
  CHECK((Agree{}(PrimeField(1), PrimeField(1)) && !Agree{}(PrimeField(1), PrimeField(2))));
  CHECK((SameBits{}(NaN, NaN) && !SameBits{}(0.0, -0.0) && !SameBits{}(1.0, std::nextafter(1.0, 2.0))));
}

TEST_CASE("results are compared in every entry, and in their numbers of rows") {
  using checking::first_difference;
  const Matrix<n, 2, double> X{1, 2, 3, 4};
  auto other = X;
  other(1, 1) = 5;
  CHECK(!first_difference(Failure{}, X, X));
  const auto entry = first_difference(Failure{}, X, other, 3);
  REQUIRE(entry);
  CHECK((entry->entry == "row 5, column 2" && entry->left.value == "4" && entry->right.value == "5"));
  const auto rows = first_difference(Failure{}, X, X | 1);
  REQUIRE(rows);
  CHECK((rows->entry == "the numbers of rows" && rows->left.value == "2 rows" && rows->right.value == "1 row"));
}

TEST_CASE("a verdict fails if one of the arithmetics refutes") {
  using checking::Verdict;
  const Failure failure{.claim = "a claim", .layer = "T", .arithmetic = "double"};
  CHECK((Verdict{}.holds() && !Verdict{}.failure()));
  for (const auto arithmetic : {&Verdict::reals, &Verdict::bits, &Verdict::field, &Verdict::sets}) {
    Verdict verdict;
    verdict.*arithmetic = failure;
    CHECK((!verdict.holds() && verdict.failure()));
    CHECK(printed(verdict) == printed(failure));
  }
}

TEST_CASE("what is drawn: all tokens of the vocabulary, numbers of both signs, rows that vary, constants") {
  using checking::draw_matrix, checking::Dependencies;
  Generator generator{1};
  const auto x = draw_matrix<Tokens>(Sequences{100}, generator, {.vocab_size = 3});
  std::vector<int> counts(3);
  for (std::size_t i = 0; i < 100; ++i) ++counts.at(std::size_t(x(i, 0)));
  for (const int count : counts) CHECK(count > 10);
  const auto X = draw_matrix<Matrix<n, 2, double>>(Sequences{100}, generator);
  double least = 0, greatest = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(std::abs(X(i, 0) - X(i, 1)) >= 0.2);  // σ ≥ 0.1
    least = std::min({least, X(i, 0), X(i, 1)});
    greatest = std::max({greatest, X(i, 0), X(i, 1)});
  }
  CHECK((-1 <= least && least < -0.9 && 0.9 < greatest && greatest < 1));
  CHECK(draw_matrix<Matrix<n, 1, Dependencies>>(Sequences{1}, generator)(0, 0).tags() == 0);
}

TEST_CASE("(x, y)|i is (x, y|i): the source is read as a whole") {
  const SourceAndTarget<Tokens, Tokens> X{{1, 2, 3}, {4, 5, 6}};
  CHECK(((X | 2).x == X.x && (X | 2).y == Tokens{4, 5}));
}

TEST_CASE("sources are as long as the targets in reverse order, and one row longer") {
  Generator generator{1};
  const auto X = checking::draw_input<SourceAndTarget<Tokens, Tokens>>(Sequences::of_lengths({2, 5}), generator);
  CHECK(X.y.sequences() == Sequences::of_lengths({2, 5}));
  CHECK(X.x.sequences() == Sequences::of_lengths({6, 3}));
}

TEST_CASE("derivatives that are all 0 are no comparison, NaN is no derivative, and others agree within a millionth") {
  const auto failure_of = [](double by_differences, double by_pullback) {
    double x = 0;
    return checking::derivatives_differ({.claim = "a claim", .layer = "T", .arithmetic = "double"},
                                        [&] { return by_differences * x; }, {{{&x, 1, 1}, "w"}},
                                        {{{&by_pullback, 1, 1}, "w"}});
  };
  constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
  CHECK(!failure_of(1e-9, 1e-9));
  CHECK((!failure_of(1, 1 + 0.9e-6) && failure_of(1, 1 + 1.1e-6) && failure_of(1, 1 - 1.1e-6)));
  CHECK((failure_of(1, NaN) && failure_of(NaN, 1) && failure_of(NaN, NaN)));
  REQUIRE(failure_of(0, 0));
  CHECK(failure_of(0, 0)->remark == "all derivatives are 0: nothing has been compared");
}

TEST_CASE("sets of positions: a structural zero annihilates a product and vanishes in a sum") {
  using checking::Dependencies;
  const auto first = Dependencies::position(0), second = Dependencies::position(1);
  for (const auto& both : {first + second, first - second, first * second, first / second}) CHECK(both.tags() == 3);
  CHECK(same(first + Dependencies(0), first));
  CHECK(same(Dependencies(0) + second, second));
  CHECK((same(Dependencies(0) * first, Dependencies(0)) && same(first * Dependencies(0), Dependencies(0))));
  CHECK(same(Dependencies(0) / first, Dependencies(0)));
  CHECK((same(first * Dependencies(1), first) && !exp(Dependencies(0)).structural_zero()));
}

TEST_CASE(
    "with another key the functions of the prime field have other values, and no two functions have the same value") {
  using checking::PrimeField;
  const PrimeField a(5);
  std::vector<std::uint64_t> values;
  for (const std::uint64_t key : {1u, 2u}) {
    PrimeField::key = key;
    for (const PrimeField& value : {exp(a), log(a), sqrt(a), tanh(a), normal_cdf(a), normal_density(a), relu(a),
                                    relu_derivative(a), maximum(&a, 1)})
      values.push_back(value.residue());
  }
  std::sort(values.begin(), values.end());
  CHECK(std::adjacent_find(values.begin(), values.end()) == values.end());
}

TEST_CASE("a denominator of 0 in the prime field is refused, and other numbers are drawn") {
  using checking::PrimeField, checking::redrawing, checking::ZeroDenominator;
  CHECK_THROWS_AS(PrimeField(1) / PrimeField(0), ZeroDenominator);
  int draws = 0;
  CHECK(redrawing(1, [&](Generator&) { return ++draws < 3 ? throw ZeroDenominator{} : draws; }) == 3);
  CHECK_THROWS_WITH_AS(redrawing(1, [](Generator&) -> int { throw ZeroDenominator{}; }),
                       "a denominator is 0, whatever numbers are drawn", std::runtime_error);
}

namespace {

/// 1 everywhere: depends on nothing.
template <class Real>
struct Ones {
  using declared = is::Rowwise;
  using domain = Matrix<n, 3, Real>;
  using codomain = domain;
  codomain operator()(const domain& X) const { return codomain{X.sequences(), Real(1)}; }
  static constexpr void weights(auto&&, auto&...) {}
};

/// How many rows X has, in one row: depends on no row.
template <class Real>
struct NumberOfRows : Ones<Real> {
  Matrix<n, 3, Real> operator()(const Matrix<n, 3, Real>& X) const {
    return Matrix<n, 3, Real>{Sequences{1}, Real(X.rows())};
  }
};

}  // namespace

TEST_CASE("a row that is not to count is seen") {
  using checking::trace_positions, checking::Claim, checking::Dependencies, checking::OperationOf;
  CHECK((!trace_positions(OperationOf<SumSoFar<Dependencies>>{"Sum"}, Claim::autoregressive) &&
         trace_positions(OperationOf<SumSoFar<Dependencies>>{"Sum"}, Claim::rowwise)));
  CHECK((!trace_positions(OperationOf<RightSquare<Dependencies>>{"Square"}, Claim::rowwise) &&
         trace_positions(OperationOf<RightSquare<Dependencies>>{"Square"}, Claim::constant)));
  CHECK(!trace_positions(OperationOf<Ones<Dependencies>>{"1"}, Claim::constant));
  const auto failure = trace_positions(OperationOf<RightSquare<Dependencies>>{"Square"}, Claim::constant);
  REQUIRE(failure);
  CHECK(failure->layer == "Square");
  CHECK(failure->arithmetic == checking::arithmetic<Dependencies>());
  const auto of_Y = Dependencies::codomain_position(0) + Dependencies::codomain_position(1);
  CHECK(printed(Dependencies::position(0) + Dependencies::position(2) + of_Y) == "{1, 3 | 1, 2}");
}

TEST_CASE("what is independent of X does not depend on how many rows it has") {
  const auto failure =
      checking::compare_parts(checking::OperationOf<NumberOfRows<double>>{"n"}, checking::Claim::constant, 1);
  REQUIRE(failure);
  CHECK(failure->n == 2);
}

}  // namespace tlm::tests::in_checking
