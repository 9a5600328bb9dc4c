// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>

#include <tlm/all.hpp>

#include "lying.hpp"

/// tlm::check must find every lie with the statement that is named.
namespace tlm::tests::in_lies {

using lying::Lie, lying::report_on;

namespace {

template <class Real>
using Square = lying::Square<is::Rowwise, Real>;
template <class Real>
using RunningSum = lying::RunningSum<is::Autoregressive, Real>;

template <class Real>
using F = Composition<Plus<"B", 3, Real>, Times<"A", 3, 3, Real>>;

/// Says X + F(X), and is 2X + F(X).
template <class Real>
struct Twice : Res<F<Real>> {
  using typename Res<F<Real>>::codomain;
  using typename Res<F<Real>>::domain;
  codomain operator()(const domain& X) const { return X + Res<F<Real>>::operator()(X); }
};
template <class Real>
using Once = Res<F<Real>>;

/// x·v + x·w, of which the weight v is visited twice, and w never: there are as many as it holds.
template <class Real>
struct TwoNames {
  using declared = is::Rowwise;
  using domain = Matrix<n, 3, Real>;
  using codomain = domain;

  Matrix<1, 3, Real> v, w;

  codomain operator()(domain X) const {
    for (std::size_t i = 0; i < X.rows(); ++i)
      for (std::size_t j = 0; j < 3; ++j) X(i, j) *= v(0, j) + w(0, j);
    return X;
  }
  auto value_and_pullback(const domain&) const&& { return refuse_temporary<TwoNames>(); }
  auto value_and_pullback(const domain& X) const& {
    return with_pullback((*this)(X), [this, X](const codomain& Y_bar, TwoNames& gradient) {
      for (std::size_t i = 0; i < X.rows(); ++i)
        for (std::size_t j = 0; j < 3; ++j) gradient.v(0, j) += X(i, j) * Y_bar(i, j);
      return (*this)(Y_bar);
    });
  }
  static constexpr void weights(auto&& visit, auto&... layer) {
    visit(Name{"v"}, layer.v...);
    visit(Name{"w"}, layer.v...);
  }
};

/// Over float it is called rowwise, and is not.
template <class Real>
using OtherClaim =
    lying::RunningSum<std::conditional_t<std::is_same_v<Real, float>, is::Rowwise, is::Autoregressive>, Real>;

/// Another thing for an X that is given away than for one that is kept.
template <class Real>
struct OtherForTemporaries : Square<Real> {
  using typename Square<Real>::domain;
  domain operator()(const domain& X) const { return Square<Real>::operator()(X); }
  domain operator()(domain&& X) const { return X + Square<Real>::operator()(X); }
};
/// Visits its weights in another order than it applies them.
template <class Real>
struct OtherOrder : F<Real> {
  static constexpr void parts(auto&& visit, auto&... layer) {
    visit(0, layer.g...);
    visit(0, layer.f...);
  }
};

/// ◺ up to the seventh row; row 8 sees row 9, if there is one.
struct LateMask {
  using declared = is::LowerTriangular;
  static constexpr std::size_t visible(std::size_t i, std::size_t n_keys) {
    return i < 7 ? i + 1 : std::min(i + 2, n_keys);
  }
};
template <class Mask, class Real>
using Attending = Attention<1, Mask, Times<"W_Q", 3, 3, Real>, Times<"W_K", 3, 3, Real>, Times<"W_V", 3, 3, Real>>;
template <class Real>
using LateAttention = Attending<LateMask, Real>;
template <class Real>
using RightAttention = Attending<Causal, Real>;

/// Requires that a statement with these words fails, if the layer tells this lie.
template <template <class> class Layer>
void must_fail(Lie lie, std::string_view words) {
  const Report report = report_on<Layer>(lie);
  INFO("lie ", int(lie), ": ", report);
  bool failed = false;
  for (const auto& line : report.lines()) failed |= line.failure && line.statement == Containing{std::string(words)};
  CHECK_MESSAGE(failed, std::string(words));
}

}  // namespace

TEST_CASE("without a lie they pass") {
  for (const Report& report : {report_on<Square>(Lie::none), report_on<RunningSum>(Lie::none),
                               report_on<Once>(Lie::none), report_on<RightAttention>(Lie::none), check<F>("F")}) {
    INFO(report);
    CHECK(report.holds());
    CHECK_FALSE(printed(report) == Containing{"is not finite"});
  }
}

TEST_CASE("values that depend on zeros, on equal numbers, on what hides") {
  must_fail<Square>(Lie::counts_rows_of_zeros, "is rowwise: double");
  must_fail<Square>(Lie::counts_rows_of_zeros, "is rowwise: float and double to the last bit");
  must_fail<Square>(Lie::looks_for_a_zero, "is rowwise: double");
  must_fail<Square>(Lie::looks_for_equal_neighbours, "is rowwise: double");
  must_fail<Square>(Lie::nan_at_equal_neighbours, "is rowwise: double");
  must_fail<Square>(Lie::adds_and_subtracts_the_last_row, "is rowwise: sets of positions");
  must_fail<Square>(Lie::adds_and_subtracts_the_last_row, "is rowwise: float and double to the last bit");
  must_fail<Square>(Lie::other_for_one_row, "is rowwise: the prime field");
  must_fail<Square>(Lie::adds_the_last_row_to_the_first, "is rowwise: the prime field");
  must_fail<RunningSum>(Lie::sees_the_next_row_a_little, "is autoregressive: float and double to the last bit");
  must_fail<Square>(Lie::wrong_in_float, "value and pullback in float are those in double");
}

TEST_CASE("values that depend on other sequences") {
  must_fail<RunningSum>(Lie::reads_the_sequence_before, "the sequences of a stack do not affect each other: sets");
  must_fail<Square>(Lie::counts_sequences, "the sequences of a stack do not affect each other: the prime field");
  must_fail<Square>(Lie::makes_one_sequence, "the sequences of a stack do not affect each other: double");
  must_fail<Square>(Lie::mixes_sequences_of_one_length,
                    "the sequences of a stack do not affect each other: the prime field");
  must_fail<RunningSum>(Lie::counts_positions_over_the_stack,
                        "the sequences of a stack do not affect each other: the prime field");
}

TEST_CASE("lies about pullbacks are seen") {
  must_fail<Square>(Lie::nan_at_zero, "dual numbers of double");
  must_fail<Square>(Lie::nan_for_an_empty_sequence, "dual numbers of double");
  must_fail<Square>(Lie::reads_the_next_row_of_five, "value_and_pullback(X) begins with T(X): the prime field");
  must_fail<Square>(Lie::pullback_wrong_in_float, "value and pullback in float are those in double");
  must_fail<Square>(Lie::keeps_a_reference_to_X, "the pullback is the transpose of the derivative");
  must_fail<Square>(Lie::keeps_a_reference_to_Y, "the pullback is the transpose of the derivative");
  must_fail<Square>(Lie::forgets_the_last_sequence, "the pullback is the transpose of the derivative");
  must_fail<Square>(Lie::doubles_the_gradient, "the pullback adds to the gradient");
  must_fail<Square>(Lie::not_linear, "the pullback is linear");
  must_fail<Square>(Lie::skips_rows_whose_y_bar_begins_with_0,
                    "the pullback is the transpose of the derivative: dual numbers of double");
  must_fail<Square>(Lie::makes_one_sequence_of_x_bar, "the pullback is the transpose of the derivative");
  must_fail<Square>(Lie::adds_the_last_row_of_y_bar_to_the_first_of_x_bar, "of X̄ depends on no row of Ȳ");
  must_fail<Square>(Lie::writes_into_X, "the pullback is the transpose of the derivative");
  must_fail<TwoNames>(Lie::none, "the pullback is the transpose of the derivative");
  must_fail<OtherForTemporaries>(Lie::none, "value_and_pullback(X) begins with T(X)");
}

TEST_CASE("extensions") {
  must_fail<RunningSum>(Lie::copies_share_memory, "extending in pieces gives the rows of the whole");
  must_fail<RunningSum>(Lie::positions_begin_anew, "extending in pieces gives the rows of the whole");
  must_fail<RunningSum>(Lie::forgets_where_nothing_comes, "extending in pieces gives the rows of the whole");
  must_fail<RunningSum>(Lie::forgets_at_an_empty_piece, "extending in pieces gives the rows of the whole");
}

TEST_CASE("what a layer is called") { must_fail<OtherClaim>(Lie::none, "is called the same over float and double"); }

TEST_CASE("forms") {
  must_fail<Twice>(Lie::none, "is what its form says");
  must_fail<OtherOrder>(Lie::none, "is what its form says");
}

TEST_CASE("what begins after the rows that are looked at passes, with the rows that were; with more rows it is seen") {
  const auto seen = check<LateAttention>("T", {.rows = 9});
  INFO(seen);
  CHECK(!seen.holds());
  const auto report = check<LateAttention>("T");
  CHECK(report.holds());
  CHECK(printed(report) == Containing{"is autoregressive: double within 1e-12, n ≤ 6"});
}

TEST_CASE("what is told where a row itself is large passes, as docs/evidence.rst says") {
  CHECK(report_on<Square>(Lie::looks_for_large_numbers).holds());
}

TEST_CASE("a layer that is not finite where X is finite and large gets a note") {
  const auto report = report_on<Square>(Lie::overflows);
  CHECK(report.holds());
  CHECK(printed(report) ==
        Containing{"note:  T is not finite everywhere: double, for an X with entries of up to 2000"});
}

}  // namespace tlm::tests::in_lies
