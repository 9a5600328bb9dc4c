// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <tlm/attention/attention_weights.hpp>
#include <tlm/attention/kv_cache.hpp>
#include <tlm/matrix/rearranged.hpp>
#include <tlm/numbers/rows.hpp>

#include "../support.hpp"

namespace tlm::tests::in_masked_matrix {

namespace {

constexpr std::size_t d = 6;

/// The columns of a head in the rows of sequence s.
template <std::size_t n_heads>
auto head(auto& X, std::size_t s, std::size_t h) {
  return detail::view(X, s).block(0, X.sequences().length(s), h * (d / n_heads), d / n_heads);
}

/// action(s, h) for every sequence s and head h.
template <std::size_t n_heads>
void for_each_head(const Sequences& queries, const auto& action) {
  for (std::size_t s = 0; s < queries.count(); ++s)
    for (std::size_t h = 0; h < n_heads; ++h) action(s, h);
}

/// A = factor·Q×Kᵀ in each head, as far as it is visible.
template <std::size_t n_heads, class Mask, std::size_t block>
auto scores(const Matrix<n, d, double>& Q, const Matrix<n, d, double>& K, double factor) {
  AttentionWeights<n_heads, Mask, double, block> A{Q.sequences(), K.sequences()};
  for_each_head<n_heads>(Q.sequences(), [&](std::size_t s, std::size_t h) {
    detail::multiply(head<n_heads>(Q, s, h), head<n_heads>(K, s, h).transposed(), A(s, h), factor);
  });
  return A;
}

/// A×V in each head; or, transposed, Aᵀ×V.
template <bool transpose, std::size_t n_heads, class Mask, std::size_t block>
auto product(const AttentionWeights<n_heads, Mask, double, block>& A, const Matrix<n, d, double>& V) {
  Matrix<n, d, double> Y{transpose ? A.keys() : A.queries(), 0.0};
  for_each_head<n_heads>(A.queries(), [&](std::size_t s, std::size_t h) {
    if constexpr (transpose)
      accumulate<d / n_heads>(head<n_heads>(Y, s, h), transposed(A(s, h)), head<n_heads>(V, s, h));
    else
      accumulate<d / n_heads>(head<n_heads>(Y, s, h), A(s, h), head<n_heads>(V, s, h));
  });
  return Y;
}

/// Rows and head `head` of n_heads of sequence s of X.
template <std::size_t n_heads>
reference::Table head_of(const Matrix<n, d, double>& X, std::size_t s, std::size_t head) {
  return reference::columns(table(sequence(X, s)), head * (d / n_heads) + 1, d / n_heads);
}

/// The plain definition of Q×Kᵀ/2, A×V and Aᵀ×Y, sequence by sequence, head by head and entry by entry.
template <std::size_t n_heads, class Mask, std::size_t block>
void compare(const Sequences& queries, const Sequences& keys) {
  INFO((std::is_same_v<Mask, Causal> ? "causal" : "unmasked"), ", queries: ", queries, ", keys: ", keys);
  Generator generator{queries.rows()};
  const auto Q = random_rows<Matrix<n, d, double>>(queries, generator);
  const auto Y = random_rows<Matrix<n, d, double>>(queries, generator);
  const auto K = random_rows<Matrix<n, d, double>>(keys, generator);

  const auto A = scores<n_heads, Mask, block>(Q, K, 0.5);
  const auto A_K = product<false>(A, K), transposed_Y = product<true>(A, Y);
  CHECK(A_K.sequences() == queries);
  CHECK(transposed_Y.sequences() == keys);

  double greatest = 0;
  for_each_head<n_heads>(queries, [&](std::size_t s, std::size_t h) {
    const auto Q_h = head_of<n_heads>(Q, s, h), K_h = head_of<n_heads>(K, s, h), Y_h = head_of<n_heads>(Y, s, h);
    reference::Table A_h = reference::product(Q_h, reference::transposed(K_h));
    for (std::size_t i = 1; i <= A_h.rows; ++i)
      for (std::size_t j = 1; j <= A_h.cols; ++j) {
        // The query's own position is n_keys − n_queries + i: it sees the keys up to there.
        const bool hidden = std::is_same_v<Mask, Causal> && j > A_h.cols - A_h.rows + i;
        A_h(i, j) *= hidden ? 0 : 0.5;
        if (!hidden) greatest = greater(greatest, std::abs(A_h(i, j) - A(s, h)(i - 1, j - 1)));
      }
    greatest = greater(greatest, distance(head_of<n_heads>(A_K, s, h), reference::product(A_h, K_h)));
    greatest = greater(
        greatest, distance(head_of<n_heads>(transposed_Y, s, h), reference::product(reference::transposed(A_h), Y_h)));
  });
  CHECK(greatest <= 1e-13);
}

/// Lengths: a block less one, a block, a block and one, two blocks and one, five blocks and one. First as many queries
/// as keys, then only the last queries.
template <std::size_t n_heads, std::size_t block>
void compare_sizes() {
  CAPTURE(n_heads);
  CAPTURE(block);
  for (const std::size_t length : {block - 1, block, block + 1, 2 * block + 1, 5 * block + 1}) {
    CAPTURE(length);
    const Sequences alone = Sequences::of_lengths({length});
    const Sequences stacked = Sequences::of_lengths({length, 1, length + 2});
    compare<n_heads, Causal, block>(alone, alone);
    compare<n_heads, Causal, block>(stacked, stacked);
    compare<n_heads, Unmasked, block>(stacked, Sequences::of_lengths({2, length + 1, 3}));
    for (const std::size_t earlier : {std::size_t{1}, block - 1, block, block + 1}) {
      CAPTURE(earlier);
      compare<n_heads, Causal, block>(alone, Sequences::of_lengths({length + earlier}));
    }
  }
}

}  // namespace

TEST_CASE("products of visible blocks are the plain definition's") {
  compare_sizes<1, 1>();
  compare_sizes<2, 2>();
  compare_sizes<3, 3>();
  compare_sizes<2, 4>();
  compare_sizes<2, 32>();
}

TEST_CASE("what is not visible is neither read nor passed on") {
  constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
  Generator generator{1};
  const auto Q = random_rows<Matrix<n, d, double>>(Sequences{5}, generator);
  auto A = scores<2, Causal, 2>(Q, Q, 1);
  const auto clean = product<false>(A, Q), clean_transposed = product<true>(A, Q);
  const auto poison = [&A] {
    for (std::size_t head = 0; head < 2; ++head)
      for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t j = i + 1; j < 5; ++j) A(0, head)(i, j) = NaN;
  };
  poison();
  CHECK(product<false>(A, Q) == clean);
  CHECK(product<true>(A, Q) == clean_transposed);

  for_each_head<2>(A.queries(), [&](std::size_t s, std::size_t h) {
    for (std::size_t i = 0; i < 5; ++i) softmax(A(s, h).row(i));
  });
  poison();
  CHECK(scale(table(product<false>(A, Q))) <= 1);

  // The check sees what is visible: one NaN on the diagonal reaches its row.
  A(0, 0)(3, 3) = NaN;
  CHECK_FALSE(scale(table(product<false>(A, Q))) <= 1);
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

TEST_CASE("as many sequences of keys as of queries") {
  CHECK(refusal_of<Causal>(Sequences::of_lengths({1, 2}), Sequences{3}) ==
        "2 sequences of queries cannot look at 1 sequences of keys");
}

TEST_CASE("causal queries are the last positions of their keys' sequence") {
  CHECK(refusal_of<Causal>(Sequences{4}, Sequences{3}) == "4 queries cannot be the last of only 3 positions");
  CHECK(refusal_of<Unmasked>(Sequences{4}, Sequences{3}) == "");  // cross-attention
}

TEST_CASE("a mask that shows a query more keys than there are, or none, is refused") {
  const auto shows = [](int position, int keys, int of) {
    return detail::sentence({"the mask shows the query at position ", position, " of a sequence ", keys, " keys, of ",
                             of, " that there are"});
  };
  CHECK(refusal_of<OneTooMany>(Sequences{3}, Sequences{3}) == shows(3, 4, 3));
  CHECK(refusal_of<OneTooMany>(Sequences{1}, Sequences{5}) == shows(5, 6, 5));
  CHECK(refusal_of<StrictlyBefore>(Sequences{3}, Sequences{3}) == shows(1, 0, 3));
  CHECK(refusal_of<StrictlyBefore>(Sequences{2}, Sequences{3}) == "");
  CHECK(refusal_of<OneOfTheFuture>(Sequences{3}, Sequences{3}) == "");
}

TEST_CASE("queries without keys have nothing to look at") {
  const Sequences keys = Sequences::of_lengths({3, 0});
  CHECK(refusal_of<Unmasked>(Sequences::of_lengths({1, 2}), keys) ==
        "sequence 2 has 2 queries and no keys: attention needs a row to look at");
  CHECK(refusal_of<Unmasked>(Sequences::of_lengths({1, 0}), keys) == "");
}

TEST_CASE("each row sees its keys, in every sequence and head") {
  const AttentionWeights<2, Causal, float> A{Sequences::of_lengths({1, 0, 2}), Sequences::of_lengths({3, 0, 2})};
  using Row = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
  std::vector<Row> visited;
  for_each_head<2>(A.queries(), [&](std::size_t s, std::size_t h) {
    for (std::size_t i = 0; i < A(s, h).rows; ++i) visited.emplace_back(s, h, i, A(s, h).visible(i));
  });
  CHECK(visited ==
        std::vector<Row>{{0, 0, 0, 3}, {0, 1, 0, 3}, {2, 0, 0, 1}, {2, 0, 1, 2}, {2, 1, 0, 1}, {2, 1, 1, 2}});
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
      AttentionWeights<2, Mask, float, block> all{Sequences::of_lengths({length, 2}),
                                                  Sequences::of_lengths({length + earlier, 5})};
      std::size_t hidden = 0, most_rows = 0;
      bool once = true;
      for_each_head<2>(all.queries(), [&](std::size_t s, std::size_t h) {
        const auto A = all(s, h);
        for (std::size_t i = 0; i < A.rows; ++i) std::fill_n(&A(i, 0), A.cols, 0.0f);
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
      });
      CHECK(hidden == 0);
      CHECK(most_rows <= block);
      CHECK(once);
    }
}

namespace {

/// The rows of head h in sequence s are those columns of all of X, one after the other.
template <class M>
bool is_head(detail::View<const typename M::Real> rows, const std::vector<M>& X, std::size_t s, std::size_t h) {
  std::size_t i = 0;
  for (const M& part : X)
    for (std::size_t k = 0; k < part.sequences().length(s); ++k, ++i)
      for (std::size_t j = 0; j < rows.cols; ++j)
        if (i >= rows.rows || rows(i, j) != detail::view(part, s)(k, h * rows.cols + j)) return false;
  return i == rows.rows;
}

/// The keys and values are these, head by head: one stack appended to the other.
template <std::size_t n_heads, std::size_t d_key, std::size_t d_value, class Real>
bool same(const detail::KVCache<n_heads, d_key, d_value, Real>& KV,
          const std::vector<Matrix<n, n_heads * d_key, Real>>& K,
          const std::vector<Matrix<n, n_heads * d_value, Real>>& V) {
  bool same = KV.sequences().count() == K[0].sequences().count();
  for_each_head<n_heads>(KV.sequences(), [&](std::size_t s, std::size_t h) {
    same = same && is_head(KV.keys(s, h), K, s, h) && is_head(KV.values(s, h), V, s, h);
  });
  return same;
}

}  // namespace

TEST_CASE_TEMPLATE(
    "keys and values that are appended are the sequences continued, of every number and length from 0 to 3", Cache,
    detail::KVCache<1, 4, 2, float>, detail::KVCache<2, 2, 1, float>, detail::KVCache<2, 1, 3, float>) {
  using Keys = typename Cache::Keys;
  using Values = typename Cache::Values;
  std::size_t number = 0;
  const auto drawn = [&]<class M>(const std::vector<std::size_t>& lengths, M) {
    M X{Sequences::of_lengths(lengths)};
    for (std::size_t i = 0; i < X.rows(); ++i)
      for (std::size_t j = 0; j < X.cols; ++j) X(i, j) = float(number++);
    return X;
  };
  for (std::size_t first = 0; first < 64; ++first)
    for (std::size_t second = 0; second < 64; second += 3)
      for (std::size_t count = 0; count <= 3; ++count) {
        const auto lengths = [&](std::size_t code) {
          const std::vector<std::size_t> all{code % 4, code / 4 % 4, code / 16};
          return std::vector<std::size_t>(all.begin(), all.begin() + std::ptrdiff_t(count));
        };
        const Keys K = drawn(lengths(first), Keys{}), more_K = drawn(lengths(second), Keys{});
        const Values V = drawn(lengths(first), Values{}), more_V = drawn(lengths(second), Values{});
        Cache KV;
        KV.append(K, V);
        REQUIRE(same(KV, {K}, {V}));
        KV.append(more_K, more_V);
        REQUIRE(same(KV, {K, more_K}, {V, more_V}));
        const auto before = KV;
        KV.append(K, V);
        REQUIRE(same(KV, {K, more_K, K}, {V, more_V, V}));
        REQUIRE(same(before, {K, more_K}, {V, more_V}));
      }
}

TEST_CASE("keys and values are not appended to another number of sequences, nor other keys than values") {
  detail::KVCache<1, 1, 1, float> KV;
  const Matrix<n, 1> two{{1}, {2, 3}};
  KV.append(two, two);
  CHECK_THROWS_WITH_AS(KV.append({1}, {1}), "a stack of 2 sequences cannot be continued by 1", std::invalid_argument);
  CHECK_THROWS_WITH_AS(KV.append(two, Matrix<n, 1>{{1}, {2}}),
                       "the number of rows of sequence 2 is 2 in the keys, but 1 in the values", std::invalid_argument);
  CHECK(same(KV, {two}, {two}));
}

}  // namespace tlm::tests::in_masked_matrix
