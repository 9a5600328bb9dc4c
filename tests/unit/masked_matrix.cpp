// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <tlm/attention/attention_weights.hpp>
#include <tlm/attention/kv_cache.hpp>
#include <tlm/numbers/rows.hpp>

#include "../support.hpp"

namespace tlm::tests::in_masked_matrix {

namespace {

constexpr std::size_t d = 3;
using Rows = Matrix<n, d + 2, double>;

/// The columns 2, …, d + 1 of X: a head, whose rows are not contiguous.
auto head(auto& X) { return detail::view(X).block(0, X.rows(), 1, d); }
/// The same as a table.
reference::Table table_of(const Rows& X) { return reference::columns(table(X), 2, d); }

/// A = Q×Kᵀ/2, A×K and Aᵀ×Y, as far as A is visible, entry by entry against the plain definition.
template <class Mask, std::size_t block>
void compare(std::size_t queries, std::size_t keys) {
  INFO((std::is_same_v<Mask, Causal> ? "causal" : "unmasked"), ", ", queries, " queries, ", keys, " keys, block ",
       block);
  Generator generator{queries};
  const auto Q = random_rows<Rows>(Sequences{queries}, generator), Y = random_rows<Rows>(Sequences{queries}, generator),
             K = random_rows<Rows>(Sequences{keys}, generator);
  AttentionWeights<1, Mask, double, block> weights{Q.sequences(), K.sequences()};
  const auto A = weights(0, 0);
  detail::multiply(head(Q), head(K).transposed(), A, 0.5);
  Rows A_K{Q.sequences()}, transposed_A_Y{K.sequences()};
  accumulate<d>(head(A_K), A, head(K));
  detail::accumulate<d, true>(head(transposed_A_Y), A, head(Y));

  reference::Table expected = reference::product(table_of(Q), reference::transposed(table_of(K)));
  double greatest = 0;
  for (std::size_t i = 1; i <= queries; ++i)
    for (std::size_t j = 1; j <= keys; ++j) {
      // The query's own position is keys − queries + i: it sees the keys up to there.
      const bool hidden = std::is_same_v<Mask, Causal> && j > keys - queries + i;
      expected(i, j) *= hidden ? 0 : 0.5;
      if (!hidden) greatest = greater(greatest, std::abs(expected(i, j) - A(i - 1, j - 1)));
    }
  greatest = greater(greatest, distance(table_of(A_K), reference::product(expected, table_of(K))));
  greatest = greater(
      greatest, distance(table_of(transposed_A_Y), reference::product(reference::transposed(expected), table_of(Y))));
  CHECK(greatest <= 1e-13);
}

}  // namespace

template <std::size_t rows>
using Blocks = std::integral_constant<std::size_t, rows>;

TEST_CASE_TEMPLATE("products of visible blocks are the plain definition's", Block, Blocks<1>, Blocks<2>, Blocks<3>,
                   Blocks<4>, Blocks<32>) {
  constexpr std::size_t block = Block::value;
  for (const std::size_t queries : {block - 1, block, block + 1, 2 * block + 1, 5 * block + 1}) {
    compare<Unmasked, block>(queries, queries + 1);
    for (const std::size_t earlier : {std::size_t{0}, std::size_t{1}, block - 1, block, block + 1})
      compare<Causal, block>(queries, queries + earlier);
  }
}

TEST_CASE("the softmax of the visible entries does not overflow") {
  AttentionWeights<1, Causal, double, 2> large{Sequences{2}, Sequences{2}};
  large(0, 0)(0, 0) = 1e6;
  large(0, 0)(1, 0) = -1e6;
  large(0, 0)(1, 1) = -1e6;
  for (std::size_t i = 0; i < 2; ++i) softmax(large(0, 0).row(i));
  CHECK(large(0, 0)(0, 0) == 1);
  CHECK(large(0, 0)(1, 0) == 0.5);
}

namespace {

/// j ≤ i + 1, of which the last row of a sequence has none.
struct OneTooMany {
  static constexpr std::size_t visible(std::size_t i, std::size_t) { return i + 2; }
};
/// j < i: the first row has no such j.
struct StrictlyBefore {
  static constexpr std::size_t visible(std::size_t i, std::size_t) { return i; }
};
/// j ≤ min(i + 1, n).
struct OneOfTheFuture {
  static constexpr std::size_t visible(std::size_t i, std::size_t n_keys) { return std::min(i + 2, n_keys); }
};

/// The sentence by which weights of these queries and keys are refused, or "".
template <class Mask>
std::string refusal_of(const Sequences& queries, const Sequences& keys) {
  return refusal<std::invalid_argument>([&] { AttentionWeights<1, Mask, float, 2>{queries, keys}; });
}

}  // namespace

TEST_CASE(
    "queries that do not fit their keys, and a mask that shows a query more keys than there are, or none, are "
    "refused") {
  CHECK(refusal_of<Causal>(Sequences::of_lengths({1, 2}), Sequences{3}) ==
        "2 sequences of queries cannot look at 1 sequences of keys");
  CHECK(refusal_of<Causal>(Sequences{4}, Sequences{3}) == "4 queries cannot be the last of only 3 positions");
  CHECK(refusal_of<Unmasked>(Sequences{4}, Sequences{3}) == "");  // cross-attention
  CHECK(refusal_of<Unmasked>(Sequences::of_lengths({1, 2}), Sequences::of_lengths({3, 0})) ==
        "sequence 2 has 2 queries and no keys: attention needs a row to look at");
  CHECK(refusal_of<Unmasked>(Sequences::of_lengths({1, 0}), Sequences::of_lengths({3, 0})) == "");
  const auto shows = [](int position, int keys, int of) {
    return detail::sentence({"the mask shows the query at position ", position, " of a sequence ", keys, " keys, of ",
                             of, " that there are"});
  };
  CHECK(refusal_of<OneTooMany>(Sequences{3}, Sequences{3}) == shows(3, 4, 3));
  CHECK(refusal_of<OneTooMany>(Sequences{1}, Sequences{5}) == shows(5, 6, 5));
  CHECK(refusal_of<StrictlyBefore>(Sequences{3}, Sequences{3}) == shows(1, 0, 3));
  CHECK(refusal_of<StrictlyBefore>(Sequences{2}, Sequences{3}) == "");
  CHECK(refusal_of<OneOfTheFuture>(Sequences{3}, Sequences{3}) == "");
  const Sequences many{std::size_t{1} << 31};  // 2⁶⁴ weights of 4 heads
  CHECK_THROWS_AS((AttentionWeights<4, Unmasked, float, 2>{many, many}), std::length_error);
}

namespace {
/// What a query sees goes up and down with its position.
struct UpAndDown {
  static constexpr std::size_t visible(std::size_t i, std::size_t n_keys) { return 1 + 7 * i % n_keys; }
};
}  // namespace

TEST_CASE("a triangle is a square and two triangles, down to those of no more rows than a block") {
  std::vector<std::vector<std::size_t>> wholes, edges;
  const auto into = [](auto& list) {
    return [&list](const auto& part) { list.push_back({part.top, part.height, part.left, part.width}); };
  };
  const AttentionWeights<1, Causal, float, 4> A{Sequences{18}, Sequences{20}};
  A(0, 0).for_each_part(into(wholes), into(edges));
  CHECK(wholes == std::vector<std::vector<std::size_t>>{{4, 4, 0, 4}, {8, 4, 0, 8}, {12, 6, 0, 12}, {16, 2, 12, 4}});
  CHECK(edges == std::vector<std::vector<std::size_t>>{
                     {0, 4, 0, 6}, {4, 4, 4, 6}, {8, 4, 8, 6}, {12, 4, 12, 6}, {16, 2, 16, 4}});
}

TEST_CASE_TEMPLATE("its parts cover what is visible once, and only edges contain what is not", Mask, Causal, Unmasked,
                   UpAndDown) {
  constexpr std::size_t block = 3;
  for (std::size_t length = 0; length <= 30; ++length)
    for (const std::size_t earlier : {0u, 1u, 2u, 7u}) {
      CAPTURE(length);
      CAPTURE(earlier);
      AttentionWeights<1, Mask, float, block> weights{Sequences{length}, Sequences{length + earlier}};
      const auto A = weights(0, 0);
      std::size_t hidden = 0, most_rows = 0;
      bool once = true;
      A.for_each_part(
          [&](const auto& part) {
            for (std::size_t i = part.top; i < part.top + part.height; ++i)
              for (std::size_t j = part.left; j < part.left + part.width; ++j) {
                A(i, j) += 1;
                hidden += j >= A.visible(i);
              }
          },
          [&](const auto& part) {
            most_rows = std::max(most_rows, part.height);
            for (std::size_t i = part.top; i < part.top + part.height; ++i)
              for (std::size_t j = part.left; j < std::min(part.left + part.width, A.visible(i)); ++j) A(i, j) += 1;
          });
      for (std::size_t i = 0; i < A.rows; ++i)
        for (std::size_t j = 0; j < A.visible(i); ++j) once = once && A(i, j) == 1;
      CHECK(hidden == 0);
      CHECK(most_rows <= block);
      CHECK(once);
    }
}

TEST_CASE("keys and values are not appended to another number of sequences") {
  detail::KVCache<Matrix<n, 1>> keys;
  const Matrix<n, 1> two{{1}, {2, 3}};
  keys.append(two);
  CHECK_THROWS_WITH_AS(keys.append({1}), "a stack of 2 sequences cannot be continued by 1", std::invalid_argument);
  keys.append(two);
  CHECK(keys.sequences() == Sequences::of_lengths({2, 4}));
}

}  // namespace tlm::tests::in_masked_matrix
