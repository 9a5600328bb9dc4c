// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iomanip>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#ifndef TLM_BLAS_NONE
#include <xtensor-blas/xlinalg.hpp>
#endif

#include <tlm/algebra/concat.hpp>
#include <tlm/checking/dependencies.hpp>
#include <tlm/checking/prime_field.hpp>
#include <tlm/matrix/matrix.hpp>
#include <tlm/matrix/product.hpp>

#include "../support.hpp"

namespace tlm::tests::in_matrix {

TEST_CASE("a matrix is made of its entries, row by row") {
  const Matrix<n, 2> X{1, 2, 3, 4, 5, 6};
  CHECK(X.rows() == 3);
  CHECK(X(0, 1) == 2);
  CHECK(X(2, 0) == 5);
  CHECK(X.row(1)[0] == 3);
  CHECK(Matrix<n, 2>{Sequences{2}} == Matrix<n, 2>{0, 0, 0, 0});
  CHECK(X.sequences().count() == 1);

  const Matrix<2, 3> W;
  CHECK(scale(table(W)) == 0);
}

TEST_CASE("a number of rows is written as an int or as a std::size_t: the two convert into each other") {
  const Matrix<2, 3> written{1, 2, 3, 4, 5, 6};
  const Matrix<std::size_t{2}, 3> counted = written;
  const Matrix<2, 3> again = counted;
  CHECK(again == written);
  CHECK(counted == written);
  CHECK(written + counted == Matrix<2, 3>{2, 4, 6, 8, 10, 12});
  Matrix<2, 3> sum = written;
  sum += counted;
  CHECK(sum == written + written);
  CHECK(Matrix<2, 3>{}.with_columns<5>().rows() == 2);
  CHECK(Matrix<2, 3>{std::vector<float>{1, 2, 3, 4, 5, 6}} == written);
}

static_assert(std::is_same_v<Row<3>, Matrix<std::size_t{1}, 3>>, "a Row is a matrix of one row");

// A matrix with a fixed number of rows is not a stack: it has nothing to do with sequences.
template <class M>
concept HasSequences = requires(const M& X) {
  X.sequences();
};
static_assert(HasSequences<Matrix<n, 3>>);
static_assert(!HasSequences<Matrix<2, 3>> && !HasSequences<Matrix<std::size_t{2}, 3>> && !HasSequences<Row<3>>);
static_assert(!std::is_constructible_v<Matrix<2, 3>, Sequences> && std::is_constructible_v<Matrix<n, 3>, Sequences>);

TEST_CASE("no sequences, and one sequence without rows, are not the same") {
  CHECK(Sequences{} == Sequences::of_lengths({}));
  CHECK(Sequences{0} == Sequences::of_lengths({0}));
  CHECK_FALSE(Sequences{} == Sequences{0});
  CHECK(Matrix<n, 3>{}.sequences() == Sequences{});
  CHECK(Tokens{std::vector<Token>{}}.sequences() == Sequences{0});
}

TEST_CASE("a matrix is made of an expression of xtensor, and gives its container to every other") {
  const xt::xtensor<float, 2> expression{{1, 2}, {3, 4}};
  Matrix<n, 2> X{expression + expression};
  CHECK(X == Matrix<n, 2>{2, 4, 6, 8});
  CHECK(X.xtensor() == expression + expression);
  CHECK(xt::sum(X.xtensor())() == 20);
  CHECK(xt::xarray<double>(X.xtensor())(1, 0) == 6);
  X.xtensor() = expression - X.xtensor();
  CHECK(X == Matrix<n, 2>{-1, -2, -3, -4});
  // Of a matrix that ends here the container lives on: the loop would read what is gone.
  static_assert(std::is_same_v<decltype(Matrix<n, 2>{}.xtensor()), Matrix<n, 2>::Xtensor>);
  double sum = 0;
  for (const float x : (X + X).xtensor()) sum += double(x);
  CHECK(sum == -20);
  CHECK(std::move(X).xtensor() == -expression);
  CHECK(X.rows() == 0);
  CHECK(Matrix<n, 2>{xt::transpose(expression)} == Matrix<n, 2>{1, 3, 2, 4});
  CHECK(Matrix<2, 2>{xt::xarray<double>{{1, 2}, {3, 4}}} == Matrix<2, 2>{1, 2, 3, 4});
}

// X * W is the product of matrices: a matrix is not an expression of xtensor.
static_assert(!detail::XtensorExpression<Matrix<n, 2>> &&
              detail::XtensorExpression<decltype(std::declval<Matrix<n, 2>&>().row(0))>);

#ifndef TLM_BLAS_NONE
TEST_CASE("xtensor-blas goes together with the library, in one file") {
  const xt::xtensor<float, 2> X{{1, 2}, {3, 4}}, Y{{5, 6}, {7, 8}};
  CHECK(Matrix<n, 2>{xt::linalg::dot(X, Y)} == Matrix<n, 2>{X} * Matrix<2, 2>{Y});
}
#endif

TEST_CASE("entries that do not fit the shape are refused") {
  CHECK_THROWS_WITH_AS((Matrix<n, 2>{1, 2, 3}), "3 entries do not fill 2 rows of 2", std::invalid_argument);
  CHECK_THROWS_WITH_AS((Matrix<2, 2>{1, 2}), "2 entries do not fill 2 rows of 2", std::invalid_argument);
  CHECK_THROWS_WITH_AS((Matrix<std::size_t{2}, 2>{1, 2, 3}), "3 entries do not fill 2 rows of 2",
                       std::invalid_argument);
  const xt::xtensor<float, 2> high{{1, 2}, {3, 4}, {5, 6}};
  CHECK_THROWS_WITH_AS((Matrix<2, 2>{high + high}), "an expression of shape 3×2 cannot become a matrix of shape 2×2",
                       std::invalid_argument);
  const xt::xtensor<float, 1> flat{1, 2};
  CHECK_THROWS_WITH_AS((Matrix<n, 2>{flat}), "an expression of dimension 1 cannot become a matrix",
                       std::invalid_argument);
  const xt::xtensor<float, 2> wide{{1, 2, 3, 4}};
  CHECK_THROWS_WITH_AS((Matrix<n, 2>{wide + wide}), "an expression of shape 1×4 cannot become a matrix of shape 1×2",
                       std::invalid_argument);
}

TEST_CASE("sums are entry by entry, and X + B adds the one row of B to every row") {
  Matrix<n, 2> X{1, 2, 3, 4};
  CHECK(X + X == Matrix<n, 2>{2, 4, 6, 8});
  X += Matrix<1, 2>{10, 20};
  CHECK(X == Matrix<n, 2>{11, 22, 13, 24});
  CHECK_THROWS_WITH_AS((X + Matrix<n, 2>{1, 2}),
                       "the number of rows of sequence 1 is 2 in a sum, but 1 in what is added to it",
                       std::invalid_argument);
}

TEST_CASE("a copy has entries of its own; what is moved takes them along, and leaves no rows") {
  Matrix<n, 2> X{Sequences::of_lengths({1, 2}), {1, 2, 3, 4, 5, 6}};
  const float* const entries = X.data();
  Matrix<n, 2> Y = X;
  CHECK(Y == X);
  CHECK(Y.data() != entries);
  Y(0, 0) = 9;
  CHECK(X(0, 0) == 1);
  Matrix<n, 2> moved = std::move(X);
  CHECK(moved.data() == entries);
  CHECK(X == Matrix<n, 2>{});
  CHECK(X.xtensor().size() == 0);
  CHECK(Matrix<n, 2>{X} == X);
  X = Y;
  CHECK(X == Y);
  X = std::move(moved);
  CHECK(X.data() == entries);
  CHECK(X.sequences() == Y.sequences());
  Sequences lengths = Y.sequences();
  const Sequences taken = std::move(lengths);
  CHECK((taken.begin(1) == 1 && lengths == Sequences{3}));
}

TEST_CASE("the entries of every matrix begin on a cache line, of 64 bytes, wherever it came from") {
  const auto behind_a_cache_line = [](const auto& X) { return reinterpret_cast<std::uintptr_t>(X.data()) % 64; };
  std::vector<Matrix<n, 3>> all;
  for (std::size_t rows = 1; rows <= 40; ++rows) {
    CAPTURE(rows);
    all.emplace_back(Sequences{rows}, 1.0f);
    CHECK(behind_a_cache_line(all.back()) == 0);
    CHECK(behind_a_cache_line(all.back() + all.back()) == 0);
    CHECK(behind_a_cache_line(Tokens{Sequences{rows}, 1}) == 0);
    CHECK(behind_a_cache_line(Matrix<n, 1, double>{std::vector<double>(rows)}) == 0);
  }
  struct Weights {
    char before;
    Matrix<3, 5> W;
    Row<7, double> b;
  };
  std::vector<Weights> weights(20);
  for (const Weights& w : weights) {
    CHECK(behind_a_cache_line(w.W) == 0);
    CHECK(behind_a_cache_line(w.b) == 0);
  }
}

TEST_CASE("sequences begin where the ones before them end") {
  const Sequences sequences = Sequences::of_lengths({3, 0, 2});
  CHECK(sequences.count() == 3);
  CHECK(sequences.rows() == 5);
  CHECK(sequences.begin(1) == 3);
  CHECK(sequences.end(1) == 3);
  CHECK(sequences.length(2) == 2);

  CHECK_FALSE(Sequences::of_lengths({2, 3}) == Sequences::of_lengths({3, 2}));
  CHECK_FALSE(Sequences::of_lengths({5}) == Sequences::of_lengths({5, 0}));
}

TEST_CASE("X|i keeps the first i rows of every sequence") {
  const Matrix<n, 1> X = concat_sequences<1, float>({{1, 2, 3}, {4, 5}});
  CHECK((X | 2) == concat_sequences<1, float>({{1, 2}, {4, 5}}));
  CHECK((X | 0).rows() == 0);
  CHECK((X | 0).sequences().count() == 2);
  CHECK_THROWS_WITH_AS((X | 3), "X|3 of a sequence with only 2 rows", std::out_of_range);
}

TEST_CASE("a stack consists of its sequences, and keeps those without rows") {
  const Tokens none{std::vector<Token>{}};
  const std::vector<Tokens> parts{{1, 2}, none, {3}, none};
  const Tokens x = concat_sequences(parts);
  CHECK(x.sequences() == Sequences::of_lengths({2, 0, 1, 0}));
  for (std::size_t s = 0; s < parts.size(); ++s) CHECK(sequence(x, s) == parts[s]);
  CHECK_FALSE(x == Tokens{1, 2, 3});
  CHECK_THROWS_WITH_AS(sequence(x, 4), "sequences from 4 to before 5 are not all in a stack of 4", std::out_of_range);
  // What is made without sequences is one without rows: it keeps its place.
  CHECK(concat_sequences<1, Token>({{1, 2}, {}, {3}, {}}) == x);
  CHECK(concat_sequences<1, Token>({}).sequences().count() == 0);
  CHECK(concat_sequences<1, Token>({x, x}).sequences() == Sequences::of_lengths({2, 0, 1, 0, 2, 0, 1, 0}));
  CHECK(x + x == concat_sequences<1, Token>({{2, 4}, none, {6}, none}));
}

TEST_CASE("a column is made of its sequences, of which some may be empty") {
  const Tokens x{{1, 2}, {}, {5}};
  CHECK(x.sequences() == Sequences::of_lengths({2, 0, 1}));
  CHECK(x == concat_sequences<1, Token>({{1, 2}, Tokens{Sequences{0}}, {5}}));
  CHECK(Tokens{std::vector<std::vector<Token>>{{1, 2}, {}, {5}}} == x);
  CHECK(Tokens{{1}, {2}} == concat_sequences<1, Token>({{1}, {2}}));  // and not one sequence of two
  CHECK(Tokens{{1, 2}} == Tokens{1, 2});
  CHECK(Tokens{{}}.sequences() == Sequences{0});
  CHECK(Tokens{{}, {}}.sequences() == Sequences::of_lengths({0, 0}));

  using Weights = Matrix<n, 1, double>;
  const Weights omega{{1, 0.5}, {}, {2}};
  CHECK(omega.sequences() == x.sequences());
  CHECK(omega(1, 0) == 0.5);
  CHECK(Weights{x.sequences(), {1, 0.5, 2}} == omega);
  CHECK(Weights{x.sequences(), std::vector<double>{1, 0.5, 2}} == omega);
  CHECK(Weights{x.sequences(), 2} == Weights{{2, 2}, {}, {2}});
  CHECK(Matrix<n, 2>{Sequences::of_lengths({1, 2}), {1, 2, 3, 4, 5, 6}} ==
        concat_sequences<2, float>({{1, 2}, {3, 4, 5, 6}}));
  CHECK_THROWS_WITH_AS((Weights{x.sequences(), {0.5}}), "1 entries do not fill 3 rows of 1", std::invalid_argument);
  CHECK_THROWS_WITH_AS((Weights{x.sequences(), {}}), "0 entries do not fill 3 rows of 1", std::invalid_argument);
}

// Of more columns, {{1, 2}, {3, 4}} could be rows or sequences: it is neither.
static_assert(!std::is_constructible_v<Matrix<n, 2>, std::initializer_list<std::initializer_list<float>>>);

namespace {

template <class M>
std::string printed_by(const M& X, int precision = 6) {
  std::ostringstream out;
  out << std::setprecision(precision) << X;
  return out.str();
}

}  // namespace

TEST_CASE("a matrix is printed by xtensor, with the stream's precision, each sequence of a stack under its number") {
  CHECK(printed_by(Matrix<2, 3>{1, 2.5, -3, 0, 100, 7}) ==
        "{{   1. ,    2.5,   -3. },\n"
        " {   0. ,  100. ,    7. }}");
  CHECK(printed_by(Row<2, double>{1.0 / 3, 2}, 3) == "{{ 0.333,  2.   }}");
  CHECK(printed_by(Tokens{{1, 12}, {}, {5}}) ==
        "sequence 1:\n{{ 1},\n {12}}\n"
        "sequence 2:\n{}\n"
        "sequence 3:\n{{5}}");
  CHECK(printed_by(Tokens{}) == "{}");
  CHECK(printed_by(Tokens{{}}) == "{}");
}

namespace {

struct Unprintable {};

}  // namespace

// A matrix is printed if its numbers are.
template <class M>
concept Printable = requires(std::ostream& out, const M& X) {
  out << X;
};
static_assert(Printable<Matrix<n, 2>> && Printable<Matrix<2, 2, double>> && Printable<Tokens>);
static_assert(Printable<Matrix<n, 2, checking::PrimeField>> && Printable<Matrix<n, 2, checking::Dependencies>>);
static_assert(!Printable<Matrix<n, 2, Unprintable>>);

TEST_CASE("matrices over the arithmetics of the checks are printed") {
  using checking::Dependencies, checking::PrimeField;
  CHECK(printed_by(Matrix<n, 2, PrimeField>{PrimeField(10), PrimeField(2)}) == "{{10,  2}}");
  CHECK(printed_by(Matrix<n, 2, Dependencies>{Dependencies::position(0), Dependencies(0)}) == "{{{1},   0}}");
}

TEST_CASE("rows side by side, and columns of them") {
  const Matrix<n, 1> F = concat_sequences<1, float>({{1}, {2, 3}});
  const Matrix<n, 2> G = concat_sequences<2, float>({{10, 11}, {12, 13, 14, 15}});
  const auto both = side_by_side(F, G);
  CHECK(both == concat_sequences<3, float>({{1, 10, 11}, {2, 12, 13, 3, 14, 15}}));
  CHECK(columns<1>(both, 0) == F);
  CHECK(columns<2>(both, 1) == G);
  CHECK_THROWS_WITH_AS(columns<2>(both, 2), "there are no 2 columns from column 2 in a matrix with 3",
                       std::out_of_range);
  CHECK_THROWS_AS(columns<1>(both, 3), std::out_of_range);
  CHECK_THROWS_AS(columns<1>(both, std::size_t(-1)), std::out_of_range);
  CHECK_THROWS_WITH_AS(side_by_side(F, Matrix<n, 1>{1, 2, 3}),
                       "the number of sequences is 2 in what is on the left, but 1 in what is on the right",
                       std::invalid_argument);
}

}  // namespace tlm::tests::in_matrix
