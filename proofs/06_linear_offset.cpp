// SPDX-License-Identifier: MIT
// Claim 6. For every offset k ≥ 0 there is a linear map T_k: ℝ^d_model → ℝ^d_model with T_k PE_pos = PE_{pos+k} for all
// pos ∈ {1, …, M−k}, where PE is the sinusoidal initial value of the positional encoding.
// (Article, "Positional Encoding"; it also writes "T_k(PE(pos, i)) = PE(pos+k, i)", which applies a map of vectors to a
// number.)
//
// Proof. Columns 2i and 2i+1 of PE_pos are (sin pos·ω, cos pos·ω) with ω = ω_i. By the addition theorems
//
//   sin((pos+k)ω) =  cos(kω) sin(pos·ω) + sin(kω) cos(pos·ω)
//   cos((pos+k)ω) = −sin(kω) sin(pos·ω) + cos(kω) cos(pos·ω),
//
// so T_k is made of 2×2 blocks, rotations by the angles kω_i. Hence T_j T_k = T_{j+k}, T_k is orthogonal, T_0 = I.
//
// That is an identity about points of the unit circle: (cos ω, sin ω) may be any point (c, s) with c² + s² = 1, and its
// multiples are powers of c + s√−1. Over the prime field such points are ((1−t²)/(1+t²), 2t/(1+t²)), where 1+t² is
// never 0, because p ≡ 3 mod 4. The library's PE and T_k are templates over the angle, and are checked over the field
// exactly.
//
// For k ≥ 1 and M−k > d = d_model there is no T_k if d is odd, or if the columns are counted from 1, as in the
// article's text. Then one column has no partner, or two have none. Proof. T_k takes sin pos·ω to cos kω sin pos·ω +
// sin kω cos pos·ω, and sin kω ≠ 0: the article's ω are algebraic and π is not. So T_k exists only if every missing
// partner, as a sequence of pos = 1, …, M−k, is a combination of the d columns. The columns and the missing partners
// are d+1 or d+2 sequences. Since ω ∈ (0, π), they are combinations of the same number of powers z^pos of distinct
// points z = e^{±iω} of the circle, and conversely. By Vandermonde their rank on M−k ≥ d+1 positions is at least d+1.
// If all partners were combinations of the d columns, it would be at most d. (With two missing partners and M−k = d+1
// the sequences are dependent; the rank argument holds.)
//
// For M−k ≤ d some T_k exists if the rows PE_1, …, PE_{M−k} are linearly independent, because then they can be mapped
// to any rows. This is the case for the article's own M = 3. The dimension alone is not enough: for columns sin pos·ω,
// cos pos·ω, sin(pos·π/2) the rows 1, 2 and 3 are dependent by (1, −2cos ω, 1), and the rows 2, 3 and 4 are not where
// cos ω ≠ 0.
//
// Where T_k does not exist, that is checked at random points of the circle over the field, which are the generic case.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

/// A point of the unit circle over the field, with its multiples as powers.
struct UnitPoint {
  PrimeField c, s;

  static UnitPoint random(Generator& generator) {
    const PrimeField t = PrimeField::random(generator), one(1);
    return {(one - t * t) / (one + t * t), (t + t) / (one + t * t)};
  }

  friend UnitPoint operator*(UnitPoint a, UnitPoint b) { return {a.c * b.c - a.s * b.s, a.c * b.s + a.s * b.c}; }
  friend UnitPoint operator*(double pos, UnitPoint angle) {
    UnitPoint multiple{PrimeField(1), PrimeField(0)};
    for (auto times = std::size_t(pos); times > 0; times /= 2, angle = angle * angle)
      if (times % 2 == 1) multiple = multiple * angle;
    return multiple;
  }
  friend PrimeField sin(UnitPoint angle) { return angle.s; }
  friend PrimeField cos(UnitPoint angle) { return angle.c; }
};

std::vector<UnitPoint> random_angles(std::size_t count, std::uint64_t seed) {
  Generator generator{seed};
  std::vector<UnitPoint> angles;
  while (angles.size() < count) angles.push_back(UnitPoint::random(generator));
  return angles;
}

template <std::size_t M, std::size_t d_model>
void check_offsets(const std::vector<std::size_t>& offsets) {
  using Encoding = PositionalEncoding<M, d_model, PrimeField>;
  const auto angles = random_angles(d_model / 2, d_model);
  const auto angle = [&](std::size_t i) { return angles[i]; };
  const auto PE = Encoding::sinusoidal(angle);
  for (const std::size_t k : offsets)
    must_be_equal("PE_pos×T_k = PE_{pos+k}", "PE, k = " + std::to_string(k),
                  rows(PE, 0, M - k) * Encoding::offset(k, angle), rows(PE, k, M - k), d_model);
}

/// All offsets of M positions.
std::vector<std::size_t> all_offsets(std::size_t M) {
  std::vector<std::size_t> offsets(M);
  std::iota(offsets.begin(), offsets.end(), 0);
  return offsets;
}

/// T_k for all sines before all cosines: the rows and columns 0, 2, 4, … of the article's T_k, then 1, 3, 5, ….
template <std::size_t d>
Matrix<d, d, double> of_sines_then_cosines(const Matrix<d, d, double>& T_k) {
  Matrix<d, d, double> moved;
  const auto at = [](std::size_t j) { return j / 2 + (j % 2) * d / 2; };
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j < d; ++j) moved(at(i), at(j)) = T_k(i, j);
  return moved;
}

/// Requires that T(k) takes each row to the row k below it, within the bound, for positional encodings in double.
template <std::size_t M, std::size_t d>
void check_offsets_in_double(const char* name, const Matrix<M, d, double>& PE, const auto& T, double bound) {
  for (const std::size_t k : {0u, 1u, 10u, 200u}) {
    const auto moved = rows(PE, 0, M - k) * T(k);
    const auto expected = rows(PE, k, M - k);
    INFO(std::string(name), ", k = ", k);
    for (std::size_t e = 0; e < moved.rows() * d; ++e) REQUIRE(std::abs(moved.data()[e] - expected.data()[e]) <= bound);
  }
}

/// The rank of a matrix over the field, by elimination.
std::size_t rank(std::vector<std::vector<PrimeField>> A) {
  std::size_t found = 0;
  for (std::size_t column = 0; !A.empty() && column < A[0].size() && found < A.size(); ++column) {
    std::size_t pivot = found;
    while (pivot < A.size() && same(A[pivot][column], PrimeField(0))) ++pivot;
    if (pivot == A.size()) continue;
    std::swap(A[found], A[pivot]);
    for (std::size_t i = found + 1; i < A.size(); ++i) {
      const PrimeField factor = A[i][column] / A[found][column];
      for (std::size_t j = column; j < A[i].size(); ++j) A[i][j] -= factor * A[found][j];
    }
    ++found;
  }
  return found;
}

/// Whether some linear map takes every row of P to the row k below it: rank [P] = rank [P | P shifted by k].
bool linear_map_exists(const std::vector<std::vector<PrimeField>>& P, std::size_t k) {
  std::vector<std::vector<PrimeField>> alone, both;
  for (std::size_t pos = 0; pos + k < P.size(); ++pos) {
    alone.push_back(P[pos]);
    both.push_back(P[pos]);
    both.back().insert(both.back().end(), P[pos + k].begin(), P[pos + k].end());
  }
  return rank(alone) == rank(both);
}

/// Rows pos = 1, …, M of columns that are each a sine (even) or cosine (odd) of pos times an angle.
std::vector<std::vector<PrimeField>> table(std::size_t M, const std::vector<UnitPoint>& angles,
                                           const std::vector<bool>& cosine) {
  std::vector<std::vector<PrimeField>> P(M);
  for (std::size_t pos = 1; pos <= M; ++pos)
    for (std::size_t j = 0; j < angles.size(); ++j)
      P[pos - 1].push_back(cosine[j] ? cos(double(pos) * angles[j]) : sin(double(pos) * angles[j]));
  return P;
}

}  // namespace

TEST_CASE(
    "for even d_model and columns counted from 0, PE_pos×T_k = PE_{pos+k} for pos ∈ {1, …, M−k}: exactly, at random "
    "points of the circle over the prime field, for every k < M of d = 2, 4, 8 and M = 12, and some k of d = 128, 512" *
    doctest::description("linear_offset")) {
  check_offsets<12, 2>(all_offsets(12));
  check_offsets<12, 4>(all_offsets(12));
  check_offsets<12, 8>(all_offsets(12));
  check_offsets<140, 128>({0, 1, 7, 100});
  check_offsets<20, 512>({1, 13});  // every pair of columns is a separate block, so few positions are enough
}

TEST_CASE("PE(X) = X + PE|n: exactly over the prime field, n = 1, 2, 3 rows of at most 3" *
          doctest::description("PositionalEncoding_formula")) {
  Generator generator{10};
  using Encoding = PositionalEncoding<3, 8, PrimeField>;
  const auto layer = draw_layer<Encoding>(generator);
  for (std::size_t n = 1; n <= 3; ++n) {
    auto X = draw_matrix<Matrix<tlm::n, 8, PrimeField>>(Sequences{n}, generator);
    const auto Y = layer(X);
    const auto table = rows(layer.PE, 0, n);
    for (std::size_t e = 0; e < n * 8; ++e) X.data()[e] += table.data()[e];
    must_be_equal("PE(X) = X + PE|n", "PE", Y, X, 10);
  }
}

TEST_CASE("positions count from 1: PE_1 = (sin ω_0, cos ω_0, …, sin ω_{d/2−1}, cos ω_{d/2−1})") {
  const auto angles = random_angles(4, 9);
  const auto PE = PositionalEncoding<3, 8, PrimeField>::sinusoidal([&](std::size_t i) { return angles[i]; });
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(same(PE(0, 2 * i), angles[i].s));
    CHECK(same(PE(0, 2 * i + 1), angles[i].c));
  }
}

TEST_CASE(
    "T_j T_k = T_{j+k}, T_k is orthogonal, T_0 = I: exactly, at random points of the circle, d = 8, some j and k up to "
    "100" *
    doctest::description("T_of_a_sum, T_keeps_inner_products, T_of_0")) {
  constexpr std::size_t d = 8;
  const auto angles = random_angles(d / 2, 1);
  const auto angle = [&](std::size_t i) { return angles[i]; };
  const auto T_ = [&](std::size_t k) { return PositionalEncoding<1, d, PrimeField>::offset(k, angle); };
  Matrix<d, d, PrimeField> I;
  for (std::size_t i = 0; i < d; ++i) I(i, i) = PrimeField(1);
  CHECK(same(T_(0), I));
  for (const std::size_t j : {0u, 1u, 2u, 5u, 100u})
    for (const std::size_t k : {0u, 1u, 3u, 64u}) CHECK(same(T_(j) * T_(k), T_(j + k)));
  for (const std::size_t k : {1u, 2u, 17u}) CHECK(same(T_(k) * transposed(T_(k)), I));
}

TEST_CASE(
    "⟨q×T_p, k×T_r⟩ = ⟨q, k×T_{r−p}⟩ depends on r − p alone, as in rotary positions: exactly, at random points of the "
    "circle, d = 8, p = 0, 2, 5 and r = p + 0, 1, 7" *
    doctest::description("rotated_inner_products_are_relative, inner_product_is_relative")) {
  constexpr std::size_t d = 8;
  const auto angles = random_angles(d / 2, 8);
  const auto angle = [&](std::size_t i) { return angles[i]; };
  const auto T_ = [&](std::size_t k) { return PositionalEncoding<1, d, PrimeField>::offset(k, angle); };
  Generator generator{8};
  const auto q = draw_matrix<Matrix<n, d, PrimeField>>(Sequences{1}, generator),
             k = draw_matrix<Matrix<n, d, PrimeField>>(Sequences{1}, generator);
  const auto inner = [](const auto& x, const auto& y) { return sum_of(x.row(0) * y.row(0)); };
  for (const std::size_t p : {0u, 2u, 5u})
    for (const std::size_t offset : {0u, 1u, 7u})
      CHECK(same(inner(q * T_(p), k * T_(p + offset)), inner(q, k * T_(offset))));
  CHECK(!same(inner(q * T_(1), k * T_(3)), inner(q, k * T_(1))));  // control
}

TEST_CASE(
    "in double PE_pos×T_k = PE_{pos+k} within 8u(1 + M), u = 2⁻⁵³, for PE and for both tables W_p: M = 512, d = 128, k "
    "= 0, 1, 10, 200") {
  // The library takes the sine of the rounded product pos·ω, whose error is at most u·pos·ω ≤ u·M (ω ≤ 1). The same
  // holds for k·ω in T_k, and for (pos+k)·ω in PE_{pos+k}. By the derivatives of sine and cosine, these errors are
  // together at most 3uM·√2. Two roundings of sines, two products and a sum of numbers ≤ 1 add less than 8u.
  constexpr std::size_t M = 512, d = 128;
  constexpr double bound = 8 * 0x1p-53 * (1 + double(M));
  using Encoding = PositionalEncoding<M, d, double>;
  using Constants = ConstantPositionalEncoding<M, d, double>;
  const auto T = [](std::size_t k) { return Encoding::offset(k); };
  const auto T_of_constants = [](std::size_t k) { return Encoding::offset(k, &Constants::angle); };
  check_offsets_in_double("PE", Encoding::sinusoidal(), T, bound);
  check_offsets_in_double("W_p", Constants{}.PE, T_of_constants, bound);
  check_offsets_in_double(
      "W_p, sines then cosines", SinesThenCosines<M, d, double>{}.PE,
      [&](std::size_t k) { return of_sines_then_cosines(T_of_constants(k)); }, bound);
}

TEST_CASE(
    "the catenated layout, all sines before all cosines, has a T_k too: generic angles, d = 6, M = 24, k = 1, 2, 5") {
  const auto angles = random_angles(3, 2);
  const std::vector<UnitPoint> columns{angles[0], angles[1], angles[2], angles[0], angles[1], angles[2]};
  const auto P = table(24, columns, {false, false, false, true, true, true});
  for (const std::size_t k : {1u, 2u, 5u}) CHECK(linear_map_exists(P, k));
}

TEST_CASE(
    "pairs of columns, 0-based, have a T_k: rank [P] = rank [P | P shifted by k], generic angles, d = 6, M = 24, k = "
    "1, 2, "
    "5" *
    doctest::description("linear_offset, T_is_linear")) {
  const auto angles = random_angles(3, 3);
  const std::vector<UnitPoint> columns{angles[0], angles[0], angles[1], angles[1], angles[2], angles[2]};
  const auto P = table(24, columns, {false, true, false, true, false, true});
  for (const std::size_t k : {1u, 2u, 5u}) CHECK(linear_map_exists(P, k));
}

TEST_CASE(
    "for odd d_model and k ≥ 1 there is no T_k once M−k > d_model, as the last sine has no cosine: generic angles over "
    "the prime field, d = 5, k = 1, 2, 5 (a theorem for d_model = 1 only; the book's chapter on positions argues for "
    "all)" *
    doctest::description("a_sine_alone_has_no_linear_map")) {
  const auto angles = random_angles(3, 4);
  const std::vector<UnitPoint> columns{angles[0], angles[0], angles[1], angles[1], angles[2]};
  const std::vector<bool> cosine{false, true, false, true, false};
  for (const std::size_t k : {1u, 2u, 5u}) {
    CHECK(!linear_map_exists(table(24, columns, cosine), k));
    CHECK(!linear_map_exists(table(5 + k + 1, columns, cosine), k));
    CHECK(linear_map_exists(table(5 + k, columns, cosine), k));  // as many rows as dimensions, and independent
  }
}

TEST_CASE(
    "M−k ≤ d_model alone does not give a T_k: for the columns sin pos·ω, cos pos·ω, sin(pos·π/2), where cos "
    "ω ≠ 0, and M = 4 there is no T_1 (one ω over the prime field)" *
    doctest::description("as_many_rows_as_columns_are_not_enough")) {
  const auto angle = random_angles(1, 7)[0];
  const UnitPoint right_angle{PrimeField(0), PrimeField(1)};
  const auto P = table(4, {angle, angle, right_angle}, {false, true, false});
  for (std::size_t j = 0; j < 3; ++j)  // PE_1 − 2cos ω PE_2 + PE_3 = 0
    CHECK(same(P[0][j] - (angle.c + angle.c) * P[1][j] + P[2][j], PrimeField(0)));
  CHECK(!linear_map_exists(P, 1));
}

TEST_CASE(
    "for columns counted from 1, as the article's text has it, and k ≥ 1 there is no T_k once M−k > d_model: generic "
    "angles over the prime field, d = 6, k = 1, 2, 5 (a theorem for d_model = 2 only; the book's chapter on positions "
    "argues for all)" *
    doctest::description("literal_columns_have_no_linear_map, literal_columns_of_the_article_have_no_linear_map, "
                         "literal_columns_evaluated")) {
  // Columns 1 to 6 are then cos ω_0, sin ω_1, cos ω_1, sin ω_2, cos ω_2, sin ω_3: the first and the last have no
  // partner.
  const auto angles = random_angles(4, 5);
  const std::vector<UnitPoint> columns{angles[0], angles[1], angles[1], angles[2], angles[2], angles[3]};
  const std::vector<bool> cosine{true, false, true, false, true, false};
  for (const std::size_t k : {1u, 2u, 5u}) {
    CHECK(!linear_map_exists(table(6 + k + 1, columns, cosine), k));
    CHECK(linear_map_exists(table(6 + k, columns, cosine), k));  // as many rows as dimensions, and independent
  }
}

TEST_CASE("control: for unequal frequencies within a pair there is no T_k, and a wrong T_k is seen") {
  const auto angles = random_angles(2, 6);
  CHECK(!linear_map_exists(table(24, {angles[0], angles[1]}, {false, true}), 1));
  const auto angle = [&](std::size_t i) { return angles[i]; };
  const auto PE = PositionalEncoding<12, 4, PrimeField>::sinusoidal(angle);
  CHECK(!same(rows(PE, 0, 10) * transposed(PositionalEncoding<12, 4, PrimeField>::offset(2, angle)), rows(PE, 2, 10)));
}
