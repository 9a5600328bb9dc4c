// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <tlm/attention/kernel_matrices.hpp>
#include <tlm/attention/softmax_kernel.hpp>

#include "../support.hpp"

using namespace tlm;
using namespace tlm::tests;

namespace {

constexpr std::size_t d = 6;

/// Rows and head `head` of n_heads of sequence s of X.
template <std::size_t n_heads>
reference::Table head_of(const Matrix<n, d, double>& X, std::size_t s, std::size_t head) {
  return reference::columns(table(sequence(X, s)), head * (d / n_heads) + 1, d / n_heads);
}

/// The plain definition of visible_product, A×V and Aᵀ×Y, sequence by sequence, head by head and entry by entry.
template <std::size_t n_heads, class Mask, std::size_t block>
void compare(const Sequences& queries, const Sequences& keys) {
  INFO((std::is_same_v<Mask, Causal> ? "causal" : "unmasked"), ", queries: ", queries, ", keys: ", keys);
  using Kernel = KernelMatrices<n_heads, Mask, double, block>;
  Generator generator{queries.rows()};
  const auto Q = random_rows<Matrix<n, d, double>>(queries, generator);
  const auto Y = random_rows<Matrix<n, d, double>>(queries, generator);
  const auto K = random_rows<Matrix<n, d, double>>(keys, generator);

  const Kernel A = visible_product<Kernel>(Q, K, 0.5);
  const auto A_K = A * K;
  const auto transposed_Y = transposed_product(A, Y);
  CHECK(A_K.sequences() == queries);
  CHECK(transposed_Y.sequences() == keys);

  double greatest = 0;
  for (std::size_t s = 0; s < queries.count(); ++s)
    for (std::size_t head = 0; head < n_heads; ++head) {
      const auto Q_h = head_of<n_heads>(Q, s, head), K_h = head_of<n_heads>(K, s, head),
                 Y_h = head_of<n_heads>(Y, s, head);
      const std::size_t n_queries = Q_h.rows, n_keys = K_h.rows;
      reference::Table product(n_queries, d / n_heads), transposed(n_keys, d / n_heads);
      for (std::size_t i = 1; i <= n_queries; ++i)
        for (std::size_t j = 1; j <= n_keys; ++j) {
          // The query's own position is n_keys − n_queries + i: it sees the keys up to there.
          if (std::is_same_v<Mask, Causal> && j > n_keys - n_queries + i) continue;
          double a = 0;
          for (std::size_t k = 1; k <= d / n_heads; ++k) a += 0.5 * Q_h(i, k) * K_h(j, k);
          greatest = greater(greatest, std::abs(a - A(s, head)(i - 1, j - 1)));
          for (std::size_t k = 1; k <= d / n_heads; ++k) {
            product(i, k) += a * K_h(j, k);
            transposed(j, k) += a * Y_h(i, k);
          }
        }
      greatest = greater(greatest, distance(head_of<n_heads>(A_K, s, head), product));
      greatest = greater(greatest, distance(head_of<n_heads>(transposed_Y, s, head), transposed));
    }
  CHECK(greatest <= 1e-13);
}

/// One less than a block, a block, one more, two blocks and one more, and five and one more: queries as many as keys, then the last of them.
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
  using Kernel = KernelMatrices<2, Causal, double, 2>;
  constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
  Generator generator{1};
  const auto Q = random_rows<Matrix<n, d, double>>(Sequences{5}, generator);
  const Kernel A = visible_product<Kernel>(Q, Q);
  const auto clean = A * Q;
  const auto clean_transposed = transposed_product(A, Q);
  const auto poison = [&A] {
    for (std::size_t head = 0; head < 2; ++head)
      for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t j = i + 1; j < 5; ++j) A(0, head)(i, j) = NaN;
  };
  poison();
  CHECK(A * Q == clean);
  CHECK(transposed_product(A, Q) == clean_transposed);

  A.for_each_head([&](std::size_t s, std::size_t head) { softmax_of_visible(A(s, head)); });
  poison();
  CHECK(scale(table(A * Q)) <= 1);

  // The check sees what is visible: one NaN on the diagonal reaches its row.
  A(0, 0)(3, 3) = NaN;
  CHECK_FALSE(scale(table(A * Q)) <= 1);
}

TEST_CASE("the softmax of the visible entries does not overflow") {
  using Kernel = KernelMatrices<1, Causal, double, 2>;
  const Kernel large{Sequences{2}, Sequences{2}};
  large(0, 0)(0, 0) = 1e6;
  large(0, 0)(1, 0) = -1e6;
  large(0, 0)(1, 1) = -1e6;
  softmax_of_visible(large(0, 0));
  CHECK(large(0, 0)(0, 0) == 1);
  CHECK(large(0, 0)(1, 0) == 0.5);
}

TEST_CASE("as many sequences of keys as of queries") {
  using Kernel = KernelMatrices<1, Causal, float, 2>;
  CHECK_THROWS_WITH_AS((Kernel{Sequences::of_lengths({1, 2}), Sequences{3}}),
                       "2 sequences of queries cannot look at 1 sequences of keys", std::invalid_argument);
}

TEST_CASE("causal queries are the last positions of their keys' sequence") {
  CHECK_THROWS_WITH_AS((KernelMatrices<1, Causal, float, 2>{Sequences{4}, Sequences{3}}),
                       "4 queries cannot be the last of only 3 positions", std::invalid_argument);
  CHECK_NOTHROW((KernelMatrices<1, Unmasked, float, 2>{Sequences{4}, Sequences{3}}));  // cross-attention
}

namespace {

/// j ≤ i + 1, of which the last row of a sequence has none.
struct OneTooMany {
  static constexpr std::size_t visible(std::size_t i, std::size_t) { return i + 2; }
};
/// j < i, of which the first row has none.
struct StrictlyBefore {
  static constexpr std::size_t visible(std::size_t i, std::size_t) { return i; }
};
/// j ≤ min(i + 1, n).
struct OneOfTheFuture {
  static constexpr std::size_t visible(std::size_t i, std::size_t n_keys) { return std::min(i + 2, n_keys); }
};

}  // namespace

TEST_CASE("a mask that shows a query more keys than there are, or none, is refused") {
  CHECK_THROWS_WITH_AS((KernelMatrices<1, OneTooMany, float>{Sequences{3}, Sequences{3}}),
                       "the mask shows the query at position 3 of a sequence 4 keys, of 3 that there are",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS((KernelMatrices<1, OneTooMany, float>{Sequences{1}, Sequences{5}}),
                       "the mask shows the query at position 5 of a sequence 6 keys, of 5 that there are",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS((KernelMatrices<1, StrictlyBefore, float>{Sequences{3}, Sequences{3}}),
                       "the mask shows the query at position 1 of a sequence 0 keys, of 3 that there are",
                       std::invalid_argument);
  CHECK_NOTHROW((KernelMatrices<1, StrictlyBefore, float>{Sequences{2}, Sequences{3}}));
  CHECK_NOTHROW((KernelMatrices<1, OneOfTheFuture, float>{Sequences{3}, Sequences{3}}));
}

TEST_CASE("queries without keys have nothing to look at") {
  const Sequences queries = Sequences::of_lengths({1, 2}), keys = Sequences::of_lengths({3, 0});
  CHECK_THROWS_WITH_AS((KernelMatrices<1, Unmasked, float>{queries, keys}),
                       "sequence 2 has 2 queries and no keys: attention needs a row to look at", std::invalid_argument);
  CHECK_NOTHROW((KernelMatrices<1, Unmasked, float>{Sequences::of_lengths({1, 0}), keys}));
}

TEST_CASE("its heads are visited sequence by sequence, with the keys that each row sees") {
  const KernelMatrices<2, Causal, float> A{Sequences::of_lengths({1, 0, 2}), Sequences::of_lengths({3, 0, 2})};
  using Row = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
  std::vector<Row> visited;
  A.for_each_head([&](std::size_t s, std::size_t h) {
    for (std::size_t i = 0; i < A(s, h).rows; ++i) visited.emplace_back(s, h, i, A(s, h).visible(i));
  });
  CHECK(visited ==
        std::vector<Row>{{0, 0, 0, 3}, {0, 1, 0, 3}, {2, 0, 0, 1}, {2, 0, 1, 2}, {2, 1, 0, 1}, {2, 1, 1, 2}});
}

TEST_CASE("a head of entries of its own is that of all heads, as far as it is visible, and changes nothing else") {
  using Kernel = KernelMatrices<2, Causal, double, 2>;
  Generator generator{3};
  const Sequences queries = Sequences::of_lengths({5, 3}), keys = Sequences::of_lengths({5, 4});
  const auto Q = random_rows<Matrix<n, d, double>>(queries, generator);
  const auto K = random_rows<Matrix<n, d, double>>(keys, generator);
  const auto product = visible_product<Kernel>(Q, K, 0.5);
  const Kernel A = product;
  A.for_each_head([&](std::size_t s, std::size_t h) {
    CAPTURE(s);
    CAPTURE(h);
    const auto computed = product.own(s, h), copied = A.own(s, h);
    for (std::size_t i = 0; i < A(s, h).rows; ++i)
      for (std::size_t j = 0; j < A(s, h).visible(i); ++j) {
        CHECK(computed.matrix(i, j) == A(s, h)(i, j));
        CHECK(copied.matrix(i, j) == A(s, h)(i, j));
      }
    copied.matrix(0, 0) += 1;
    CHECK(copied.matrix(0, 0) != A(s, h)(0, 0));
  });
}

namespace {
/// What a query sees goes up and down with its position.
struct UpAndDown {
  static constexpr std::size_t visible(std::size_t i, std::size_t n_keys) { return 1 + 7 * i % n_keys; }
};
}  // namespace

TEST_CASE("a triangle is a square and two triangles, down to those of no more rows than a block") {
  using Kernel = KernelMatrices<1, Causal, float, 4>;
  std::vector<std::vector<std::size_t>> wholes, edges;
  const auto into = [](auto& list) {
    return [&list](const auto& part) { list.push_back({part.top, part.height, part.left, part.width}); };
  };
  const Kernel A{Sequences{18}, Sequences{20}};
  A(0, 0).for_each_part(into(wholes), into(edges));
  CHECK(wholes == std::vector<std::vector<std::size_t>>{{4, 4, 0, 4}, {8, 4, 0, 8}, {12, 6, 0, 12}, {16, 2, 12, 4}});
  CHECK(edges == std::vector<std::vector<std::size_t>>{
                     {0, 4, 0, 6}, {4, 4, 4, 6}, {8, 4, 8, 6}, {12, 4, 12, 6}, {16, 2, 16, 4}});
}

TEST_CASE_TEMPLATE("its parts cover what is visible once, and only edges contain what is not", Mask, Causal, Unmasked,
                   UpAndDown) {
  constexpr std::size_t block = 3;
  using Kernel = KernelMatrices<2, Mask, float, block>;
  for (std::size_t length = 0; length <= 30; ++length)
    for (const std::size_t earlier : {0u, 1u, 2u, 7u}) {
      CAPTURE(length);
      CAPTURE(earlier);
      const Kernel kernel{Sequences::of_lengths({length, 2}), Sequences::of_lengths({length + earlier, 5})};
      std::size_t hidden = 0, most_rows = 0;
      bool once = true;
      kernel.for_each_head([&](std::size_t s, std::size_t h) {
        const auto A = kernel(s, h);
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

TEST_CASE("the entries of a kernel begin on a cache line, of 64 bytes") {
  std::vector<KernelMatrices<1, Causal, float>> all;
  std::vector<std::vector<char>> between;  // so that no place is the one behind the last
  for (std::size_t length = 1; length <= 20; ++length) {
    CAPTURE(length);
    between.emplace_back(length);
    all.emplace_back(Sequences{length}, Sequences{length});
    CHECK(reinterpret_cast<std::uintptr_t>(all.back()(0, 0).data) % 64 == 0);
  }
}

TEST_CASE("copies share their entries, like() has its own") {
  const KernelMatrices<1, Causal, float> A{Sequences{2}, Sequences{2}};
  A(0, 0)(1, 0) = 1;
  const auto copy = A, other = A.like();
  other(0, 0)(1, 0) = 2;
  CHECK(copy(0, 0)(1, 0) == 1);
  copy(0, 0)(1, 0) = 3;
  CHECK(A(0, 0)(1, 0) == 3);
}
