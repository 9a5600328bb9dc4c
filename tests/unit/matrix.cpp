#include <doctest/doctest.h>

#include <tlm/matrix/matrix.hpp>

#include "../support.hpp"

using namespace tlm;
using namespace tlm::tests;

TEST_CASE("a matrix is made of its entries, row by row") {
  const Matrix<n, 2> X{1, 2, 3, 4, 5, 6};
  CHECK(X.rows() == 3);
  CHECK(X(0, 1) == 2);
  CHECK(X(2, 0) == 5);
  CHECK(X.row(1)(0) == 3);
  CHECK(X.sequences().count() == 1);

  const Matrix<2, 3> W;
  CHECK(W.rows() == 2);
  CHECK(scale(table(W)) == 0);
  CHECK(Matrix<n, 3>{}.rows() == 0);
}

TEST_CASE("a matrix converts from and to xtensor") {
  const xt::xtensor<float, 2> expression{{1, 2}, {3, 4}};
  const Matrix<n, 2> X{expression + expression};
  CHECK(X == Matrix<n, 2>{2, 4, 6, 8});
  CHECK(static_cast<const Matrix<n, 2>::Storage&>(X)(1, 0) == 6);
}

TEST_CASE("entries that do not fit the shape are refused") {
  CHECK_THROWS_WITH_AS((Matrix<n, 2>{1, 2, 3}), "3 entries do not make a matrix of rows of 2", std::invalid_argument);
  CHECK_THROWS_WITH_AS((Matrix<2, 2>{1, 2}), "2 entries do not make a matrix of 2 rows of 2",
                       std::invalid_argument);
  const xt::xtensor<float, 2> wide{{1, 2, 3, 4}};
  CHECK_THROWS_WITH_AS((Matrix<n, 2>{wide + wide}), "an expression with 4 columns cannot become a matrix with 2",
                       std::invalid_argument);
}

TEST_CASE("sums are entry by entry, and X + B adds the one row of B to every row") {
  Matrix<n, 2> X{1, 2, 3, 4};
  CHECK(X + X == Matrix<n, 2>{2, 4, 6, 8});
  X += Matrix<1, 2>{10, 20};
  CHECK(X == Matrix<n, 2>{11, 22, 13, 24});
  CHECK_THROWS_WITH_AS((X + Matrix<n, 2>{1, 2}), "a matrix with 1 rows cannot be added to one with 2",
                       std::invalid_argument);
}

TEST_CASE("sequences begin where the ones before them end") {
  const Sequences sequences = Sequences::of_lengths({3, 0, 2});
  CHECK(sequences.count() == 3);
  CHECK(sequences.rows() == 5);
  CHECK(sequences.begin(1) == 3);
  CHECK(sequences.end(1) == 3);
  CHECK(sequences.length(2) == 2);

  CHECK(Sequences{4} == Sequences::of_lengths({4}));
  CHECK(Sequences{}.count() == 0);
  CHECK(Sequences{} == Sequences::of_lengths({}));
  CHECK_FALSE(Sequences::of_lengths({2, 3}) == Sequences::of_lengths({3, 2}));
  CHECK_FALSE(Sequences::of_lengths({5}) == Sequences::of_lengths({5, 0}));
}

TEST_CASE("X|i keeps the first i rows of every sequence") {
  const Matrix<n, 1> X = stack<1, float>({{1, 2, 3}, {4, 5}});
  CHECK((X | 2) == stack<1, float>({{1, 2}, {4, 5}}));
  CHECK((X | 0).rows() == 0);
  CHECK((X | 0).sequences().count() == 2);
  CHECK_THROWS_WITH_AS((X | 3), "X|3 of a sequence with only 2 rows", std::out_of_range);
}

TEST_CASE("a stack consists of its sequences") {
  const std::vector<Matrix<n, 2>> parts{{1, 2}, {3, 4, 5, 6}, {7, 8}};
  const Matrix<n, 2> X = stack(parts);
  CHECK(X.sequences() == Sequences::of_lengths({1, 2, 1}));
  for (std::size_t s = 0; s < parts.size(); ++s) CHECK(sequence(X, s) == parts[s]);
  CHECK(stack<2, float>({X, parts[0]}).sequences().count() == 4);
  CHECK_FALSE(X == Matrix<n, 2>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK_THROWS_WITH_AS(sequence(X, 3), "there is no sequence 3 in a stack of 3", std::out_of_range);
}

TEST_CASE("each sequence is continued by its own rows") {
  const Matrix<n, 1> X = stack<1, float>({{1}, {2, 3}});
  const Matrix<n, 1> more = stack<1, float>({{10, 11}, {12}});
  CHECK(continued(X, more) == stack<1, float>({{1, 10, 11}, {2, 3, 12}}));
  CHECK(continued(Matrix<n, 1>{}, more) == more);
  CHECK_THROWS_WITH_AS(continued(X, Matrix<n, 1>{1}), "a stack of 2 sequences cannot be continued by 1",
                       std::invalid_argument);
}
