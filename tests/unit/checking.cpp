// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/checking/check.hpp>
#include <tlm/layers/embedding.hpp>
#include <tlm/layers/softmax.hpp>
#include <tlm/matrix/product.hpp>

#include "../printing.hpp"

/// The parts of tlm::check, each with what it must refuse; and layers that are right. Those that are not: lies.cpp.
namespace tlm::tests::in_checking {

namespace {

/// 1 for each token: nothing to differentiate by.
template <class Real>
struct Ones {
  using declared = is::Rowwise;
  using domain = Tokens;
  using codomain = Matrix<n, 1, Real>;
  codomain operator()(const domain& x) const { return {x.sequences(), Real(1)}; }
  auto value_and_pullback(const domain& x) const {
    return with_pullback((*this)(x), [](const codomain&, Ones&) { return Nothing{}; });
  }
  static constexpr void weights(auto&&, auto&) {}
};

/// For each sequence the row w, whatever X is: a pullback in which only w moves.
template <class Real>
struct TheRow {
  using declared = is::Constant;
  using domain = Matrix<n, 3, Real>;
  using codomain = domain;
  Row<3, Real> w;

  codomain operator()(const domain& X) const { return rows_for(X, 1) += w; }
  auto value_and_pullback(const domain& X) const {
    return with_pullback((*this)(X), [X](const codomain& Y_bar, TheRow& gradient) {
      for (std::size_t i = 0; i < Y_bar.rows(); ++i) gradient.w.row(0) += Y_bar.row(i);
      return domain{X.sequences()};
    });
  }
  struct State {
    bool begun = false;
  };
  codomain extend(State& state, const domain& X) const {
    return std::exchange(state.begun, true) ? rows_for(X, 0) : (*this)(X);
  }
  static constexpr void weights(const auto& visit, auto& layer) { visit("w", layer.w); }

 private:
  static codomain rows_for(const domain& X, std::size_t count) {
    return codomain{Sequences::of_lengths(std::vector<std::size_t>(X.sequences().count(), count))};
  }
};

/// How many rows X has, in one row: depends on no row.
template <class Real>
struct NumberOfRows : Softmax<3, Real> {
  Matrix<n, 3, Real> operator()(const Matrix<n, 3, Real>& X) const { return {Sequences{1}, Real(X.rows())}; }
};

}  // namespace

TEST_CASE("tokens carry no tags and have no derivatives, and the report does not claim so") {
  const auto report = check<Ones>("Ones");
  INFO(report);
  CHECK(report.holds());
  CHECK_FALSE(printed(report) == Containing{"sets of positions"});
  CHECK_FALSE(printed(report) == Containing{"NaN"});
  CHECK_FALSE(printed(report) == Containing{"transpose"});
  CHECK(printed(report) ==
        Containing{"note:  Ones has no weights and reads tokens: there is nothing with respect to which to"});
}

TEST_CASE("a layer that does not depend on X passes, and has the rows that it has") {
  const auto report = check<TheRow>("w");
  INFO(report);
  CHECK(report.holds());
  CHECK(printed(report) == Containing{"holds: w does not depend on X: double"});
}

TEST_CASE("limits without rows, and with too many") {
  CHECK_THROWS_WITH_AS(check<Ones>("Ones", {.rows = 0}), "a layer is checked on 1 to 31 rows, not on 0",
                       std::invalid_argument);
  CHECK_THROWS_AS(check<Ones>("Ones", {.rows = 32}), std::invalid_argument);
}

TEST_CASE("many rows are split in some ways") {
  CHECK(checking::some_splits(7).size() == 7);
  CHECK(checking::shown(checking::some_splits(3)[0]) == "1 + 1 + 1 rows");
  CHECK(checking::shown(checking::some_splits(3)[2]) == "2 + 1 rows");
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

TEST_CASE("finite doubles agree within 1e-12 of their size; all else agrees if it is equal") {
  using checking::Agree, checking::PrimeField, checking::SameBits;
  constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
  CHECK((Agree{}(1.0, 1 + 0.9e-12) && !Agree{}(1.0, 1 + 1.1e-12)));
  CHECK((Agree{}(-1e6, -1e6 + 0.9e-6) && !Agree{}(-1e6, -1e6 + 1.1e-6)));
  CHECK((Agree{}(1e-12, 0.0) && !Agree{}(NaN, NaN) && !Agree{}(1.0, NaN) && !Agree{}(1.0, HUGE_VAL)));
  CHECK((Agree{}(1.0f, 1.0f) && !Agree{}(1.0f, std::nextafter(1.0f, 2.0f))));
  CHECK((Agree{}(PrimeField(1), PrimeField(1)) && !Agree{}(PrimeField(1), PrimeField(2))));
  CHECK((SameBits{}(NaN, NaN) && !SameBits{}(0.0, -0.0) && !SameBits{}(1.0, std::nextafter(1.0, 2.0))));
}

TEST_CASE("results are compared in every entry, and in their numbers of rows") {
  using checking::first_difference;
  using checking::Stacked;
  const Stacked<double> X{Matrix<n, 2, double>{1, 2, 3, 4}};
  auto other = X;
  other(1, 1) = 5;
  CHECK(!first_difference(Failure{}, X, X));
  const auto entry = first_difference(Failure{}, X, other, 3);
  REQUIRE(entry);
  CHECK((entry->entry == "row 5, column 2" && entry->left.value == "4" && entry->right.value == "5"));
  const auto rows = first_difference(Failure{}, X, X.rows(0, 1));
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

TEST_CASE("sources are as long as the targets in reverse order, and one row longer") {
  Generator generator{1};
  const checking::OperationOf<EncoderDecoder<Softmax<2>, FromMemory<Softmax<2>>>> T{"T"};
  const auto X = checking::draw_input(T, Sequences::of_lengths({2, 5}), generator);
  CHECK(X.target.sequences == Sequences::of_lengths({2, 5}));
  CHECK(X.source.sequences == Sequences::of_lengths({6, 3}));
  using Sets = checking::Dependencies;  // a source of tokens has no tags
  const checking::OperationOf<EncoderDecoder<Embedding<5, 2, Sets>, FromMemory<Softmax<2, Sets>>>> of_tokens{"T"};
  CHECK(checking::draw_input(of_tokens, Sequences::of_lengths({2, 5}), generator).source.tokens.size() == 9);
}

TEST_CASE("derivatives that are all 0 are no comparison, NaN is no derivative, and others agree within a millionth") {
  CHECK(!checking::gradient_fails(checking::OperationOf<Softmax<1, double>, checking::pullback_face>{"1"}, 1));
  const auto failure_of = [](double by_differences, double by_pullback) {
    double x = 0;
    const std::vector<Parameter<double>> point{{"w", Role::matrix, 1, 1, &x}},
        pulled_back{{"w", Role::matrix, 1, 1, &by_pullback}};
    return checking::derivatives_differ(
        {.claim = "a claim", .layer = "T", .arithmetic = "double"}, [&] { return by_differences * x; }, point,
        pulled_back);
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
  const auto of_Y = Dependencies::codomain_position(0) + Dependencies::codomain_position(1);
  CHECK(printed(first + Dependencies::position(2) + of_Y) == "{1, 3 | 1, 2}");
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

TEST_CASE("what is independent of X does not depend on how many rows it has") {
  const auto failure =
      checking::compare_parts(checking::OperationOf<NumberOfRows<double>>{"n"}, checking::Claim::constant, 1);
  REQUIRE(failure);
  CHECK(failure->n == 2);
}

}  // namespace tlm::tests::in_checking
