// SPDX-License-Identifier: MIT
// Claim 11. softmax(x Q Kᵀ xᵀ/√M) x V is one operation, in whatever order it is computed: keys, queries and values
// first, or all in one line. And exp(s_j)/Σ_k exp(s_k) is one function, whether the maximum score m is subtracted first
// or not. In floating-point numbers only the first of these holds, within rounding. If m is not subtracted, the result
// is NaN where exp overflows, or where it is 0 throughout. (The NumPy notebook, "Attention and self-attention": its
// naive and its pipelined forms and its "more stable implementation of softmax".)
//
// Derivation. (xQ)(xK)ᵀ = xQKᵀxᵀ and α(xV) = (αx)V, because products are associative. exp(s_j − m) = exp(s_j)/exp(m),
// so exp(m) cancels, whatever m is.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <tlm/numbers/rows.hpp>

#include "../tests/printing.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

/// 3^exponent in the prime field. As a score it stands for its exponent, and exp turns it into the number. So exp(a −
/// b) = exp(a)/exp(b), unlike for the exp of the prime field.
struct Power {
  long exponent = 0;
  PrimeField value;

  Power() = default;
  explicit Power(long score) : exponent{score}, value{score} {}
  explicit Power(PrimeField number) : value{number} {}

  friend Power exp(Power a) {
    PrimeField positive(1);
    for (long k = std::abs(a.exponent); k > 0; --k) positive *= PrimeField(3);
    return Power{a.exponent < 0 ? PrimeField(1) / positive : positive};
  }
  friend Power operator-(Power a, Power b) { return Power{a.exponent - b.exponent}; }
  friend Power operator/(Power a, Power b) { return Power{a.value / b.value}; }
  friend Power operator+(Power a, Power b) { return Power{a.value + b.value}; }
  Power& operator+=(Power other) { return *this = *this + other; }
  friend Power maximum(const Power* scores, std::size_t count) {
    return *std::max_element(scores, scores + count, [](Power a, Power b) { return a.exponent < b.exponent; });
  }
};

/// exp(s_j)/Σ_k exp(s_k): the notebook's naive softmax.
template <class Real>
std::vector<Real> naive_softmax(std::vector<Real> s) {
  Real sum(0);
  for (Real& s_j : s) sum += s_j = exp(s_j);
  for (Real& s_j : s) s_j = s_j / sum;
  return s;
}

/// The library's.
template <class Real>
std::vector<Real> stable_softmax(std::vector<Real> s) {
  softmax(detail::as_vector(s.data(), s.size()));
  return s;
}

inline constexpr std::size_t D = 6, M = 3;
template <class Real>
using SelfAttention = LinearHeads<"Q", "K", "V", D, 1, M, M, Unmasked, FromItself, Real>;

/// A matrix of any shape, row by row.
template <class Real>
using Table = std::vector<std::vector<Real>>;

template <class Real, auto rows, std::size_t cols>
Table<Real> table(const Matrix<rows, cols, Real>& X) {
  Table<Real> entries;
  for (std::size_t i = 0; i < X.rows(); ++i) entries.emplace_back(X.data() + i * cols, X.data() + (i + 1) * cols);
  return entries;
}

template <class Real>
Table<Real> times(const Table<Real>& A, const Table<Real>& B) {
  Table<Real> C(A.size(), std::vector<Real>(B[0].size(), Real(0)));
  for (std::size_t i = 0; i < C.size(); ++i)
    for (std::size_t j = 0; j < C[i].size(); ++j)
      for (std::size_t k = 0; k < B.size(); ++k) C[i][j] += A[i][k] * B[k][j];
  return C;
}

template <class Real>
Table<Real> transpose(const Table<Real>& A) {
  Table<Real> B(A[0].size(), std::vector<Real>(A.size()));
  for (std::size_t i = 0; i < A.size(); ++i)
    for (std::size_t j = 0; j < A[i].size(); ++j) B[j][i] = A[i][j];
  return B;
}

/// Each row becomes the softmax of its entries divided by c.
template <class Real>
Table<Real> attention_scores(Table<Real> beta, Real c) {
  for (auto& row : beta) {
    for (Real& b : row) b = b / c;
    softmax(detail::as_vector(row.data(), row.size()));
  }
  return beta;
}

/// The notebook's self_attention_naive: keys, queries, values, β = queries keysᵀ/√M, α = softmax(β), α values.
template <class Real>
Table<Real> self_attention_naive(const Table<Real>& x, const Table<Real>& K, const Table<Real>& Q,
                                 const Table<Real>& V) {
  const Table<Real> keys = times(x, K), queries = times(x, Q), values = times(x, V);
  return times(attention_scores(times(queries, transpose(keys)), sqrt(Real(M))), values);
}

/// The notebook's self_attention: softmax(x Q Kᵀ xᵀ/c) x V from left to right, where c is √M.
template <class Real>
Table<Real> self_attention(const Table<Real>& x, const Table<Real>& K, const Table<Real>& Q, const Table<Real>& V,
                           Real c) {
  return times(times(attention_scores(times(times(times(x, Q), transpose(K)), transpose(x)), c), x), V);
}

/// The naive form, the pipelined one and the library's layer.
template <class Real>
struct Forms {
  Table<Real> naive, pipelined, layer, unscaled, keys_for_queries;
};
template <class Real>
Forms<Real> forms_of(std::size_t n, Generator& generator) {
  const auto layer = draw_layer<SelfAttention<Real>>(generator);
  const auto X = draw_matrix<Matrix<tlm::n, D, Real>>(Sequences{n}, generator);
  const auto x = table(X), K = table(weight<"K">(layer)), Q = table(weight<"Q">(layer)), V = table(weight<"V">(layer));
  return {self_attention_naive(x, K, Q, V), self_attention(x, K, Q, V, sqrt(Real(M))), table(layer(X)),
          self_attention(x, K, Q, V, Real(1)), self_attention(x, Q, K, V, sqrt(Real(M)))};
}

/// Whether two tables of the field are the same.
bool same_tables(const Table<PrimeField>& A, const Table<PrimeField>& B) {
  return std::equal(A.begin(), A.end(), B.begin(), B.end(), [](const auto& a, const auto& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](PrimeField x, PrimeField y) { return same(x, y); });
  });
}

/// The maximum difference of two tables; ∞ if an entry is NaN.
double difference(const Table<double>& A, const Table<double>& B) {
  double greatest = 0;
  for (std::size_t i = 0; i < A.size(); ++i)
    for (std::size_t j = 0; j < A[i].size(); ++j) {
      const double here = std::abs(A[i][j] - B[i][j]);
      greatest = std::max(greatest, here >= 0 ? here : std::numeric_limits<double>::infinity());
    }
  return greatest;
}

}  // namespace

TEST_CASE(
    "the naive softmax exp(s_j)/Σ exp(s_k) equals the softmax that subtracts the maximum score first: exactly, for "
    "exp(s) = 3^s in the prime field and integers s, |s| ≤ 100, n ≤ 6") {
  Generator generator{1};
  for (std::size_t n = 1; n <= greatest_n; ++n)
    for (int draws = 0; draws < 20; ++draws) {
      std::vector<Power> s;
      for (std::size_t j = 0; j < n; ++j) s.emplace_back(long(generator.integer(-100, 100)));
      const auto naive = naive_softmax(s), stable = stable_softmax(s);
      for (std::size_t j = 0; j < n; ++j) {
        INFO("n = ", n, ", entry ", j + 1, " of scores from seed 1");
        REQUIRE(same(naive[j].value, stable[j].value));
      }
    }
}

TEST_CASE(
    "softmax(s + c·1) = softmax(s): exactly, for exp(s) = 3^s in the prime field and integers s and c, |s| and |c| ≤ "
    "100, n "
    "≤ 6; and not softmax(2s) (control)" *
    doctest::description("softmax_of_shifted")) {
  Generator generator{5};
  for (std::size_t n = 1; n <= greatest_n; ++n) {
    std::vector<Power> s, moved, doubled;
    const long c = generator.integer(-100, 100);
    for (std::size_t j = 0; j < n; ++j) {
      const long score = generator.integer(-100, 100);
      s.emplace_back(score);
      moved.emplace_back(score + c);
      doubled.emplace_back(2 * score);
    }
    const auto y = stable_softmax(s), y_moved = stable_softmax(moved), y_doubled = stable_softmax(doubled);
    INFO("n = ", n);
    for (std::size_t j = 0; j < n; ++j) REQUIRE(same(y[j].value, y_moved[j].value));
    CHECK((n == 1 || !same(y[0].value, y_doubled[0].value)));
  }
}

TEST_CASE(
    "in double the naive softmax agrees with the softmax that subtracts the maximum score first, within 1e-15, for "
    "scores up to 700 in size, n = 6") {
  Generator generator{2};
  for (int draws = 0; draws < 1000; ++draws) {
    std::vector<double> s(greatest_n);
    const double size = draws % 2 == 0 ? 1 : 700;
    for (double& s_j : s) s_j = size * (2 * generator.uniform() - 1);
    const auto naive = naive_softmax(s), stable = stable_softmax(s);
    for (std::size_t j = 0; j < s.size(); ++j) {
      INFO("draw ", draws, ", entry ", j + 1);
      REQUIRE(std::abs(naive[j] - stable[j]) <= 1e-15);
    }
  }
}

TEST_CASE(
    "control: the naive softmax is NaN where all scores are large or far below 0, from 710 and −746 in double, 89 and "
    "−104 in float; with the maximum subtracted first, only the differences of scores matter") {
  const auto check = []<class Real>(Real great, Real far_below, Real tolerance) {
    const Real expected = naive_softmax<Real>({1, 0})[0];
    for (const Real s : {great, far_below}) {
      CAPTURE(s);
      CHECK(std::isnan(naive_softmax<Real>({s, s - 1})[0]));
      CHECK(std::abs(stable_softmax<Real>({s, s - 1})[0] - expected) <= tolerance);
    }
    // A little nearer to 0 it is still a number.
    CHECK(!std::isnan(naive_softmax<Real>({great - 2, great - 3})[0]));
    CHECK(!std::isnan(naive_softmax<Real>({far_below + 2, far_below + 1})[0]));
  };
  check(710.0, -746.0, 1e-15);
  check(89.f, -104.f, 1e-7f);
}

TEST_CASE(
    "naive, pipelined and the library's self-attention are equal: exactly over the prime field, and in double within "
    "1e-13, n ≤ 6") {
  redrawing(3, [](Generator& generator) {
    for (std::size_t n = 1; n <= greatest_n; ++n) {
      INFO("n = ", n, ", seed 3");
      const auto in_the_field = forms_of<PrimeField>(n, generator);
      REQUIRE(same_tables(in_the_field.naive, in_the_field.pipelined));
      REQUIRE(same_tables(in_the_field.naive, in_the_field.layer));
      const auto in_double = forms_of<double>(n, generator);
      REQUIRE(difference(in_double.naive, in_double.pipelined) <= 1e-13);
      REQUIRE(difference(in_double.naive, in_double.layer) <= 1e-13);
    }
    return true;
  });
}

TEST_CASE("control: without 1/√M, or with keys in place of queries, naive self-attention is not the library's") {
  redrawing(4, [](Generator& generator) {
    const auto forms = forms_of<PrimeField>(3, generator);
    CHECK(!same_tables(forms.layer, forms.unscaled));
    CHECK(!same_tables(forms.layer, forms.keys_for_queries));
    return true;
  });
}
