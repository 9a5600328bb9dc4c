// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/checking/check.hpp>

#include "../printing.hpp"

/// Layers that are not what they say. Each is right except for the one lie that is told. Without a lie the same layer
/// passes.
namespace tlm::tests::lying {

enum class Lie {
  none,
  // of values, told in floating point alone: over the other arithmetics they would not compile
  counts_rows_of_zeros,
  looks_for_a_zero,
  looks_for_equal_neighbours,
  nan_at_equal_neighbours,
  // of values
  sees_the_next_row,
  divides_by_n,
  mixes_sequences,
  throws_after_two_rows,
  adds_and_subtracts_the_last_row,
  wrong_in_float,
  other_for_one_row,
  adds_the_last_row_to_the_first,
  reads_the_sequence_before,
  counts_sequences,
  sees_the_next_row_a_little,
  overflows,
  mixes_sequences_of_one_length,
  counts_positions_over_the_stack,
  looks_for_large_numbers,
  writes_into_X,
  makes_one_sequence,
  // of derivatives
  begins_with_another_value,
  flips_the_sign,
  flips_the_sign_the_second_time,
  forgets_the_gradient,
  overwrites_the_gradient,
  adds_1_to_x_bar,
  adds_1_to_the_gradient,
  adds_x_bar_to_what_was_never_set,
  returns_a_row_more,
  nan_at_zero,
  nan_for_an_empty_sequence,
  reads_the_next_row_of_five,
  pullback_wrong_in_float,
  keeps_a_reference_to_X,
  keeps_a_reference_to_Y,
  forgets_the_last_sequence,
  doubles_the_gradient,
  not_linear,
  skips_rows_whose_y_bar_begins_with_0,
  makes_one_sequence_of_x_bar,
  adds_the_last_row_of_y_bar_to_the_first_of_x_bar,
  // of extensions
  does_not_move_on,
  copies_share_memory,
  positions_begin_anew,
  forgets_where_nothing_comes,
  forgets_at_an_empty_piece
};

/// The lie that is told now.
inline Lie told = Lie::none;
inline bool tells(Lie lie) { return told == lie; }

/// Whether two numbers are equal: known of real numbers alone.
template <class Real>
bool equal(const Real& a, const Real& b) {
  if constexpr (std::is_floating_point_v<Real>) return a == b;
  return false;
}

/// w·x², entry by entry: rowwise, whatever it declares.
template <class Claim, class Real>
struct Square {
  using declared = Claim;
  using domain = Matrix<n, 3, Real>;
  using codomain = domain;

  Matrix<1, 3, Real> w;

  codomain operator()(const domain& X) const {
    codomain Y{X.sequences()};
    std::size_t rows_of_zeros = 0;
    for (std::size_t i = 0; i < X.rows(); ++i) {
      bool zeros = true;
      for (std::size_t j = 0; j < 3; ++j) {
        Y(i, j) = w(0, j) * X(i, j) * X(i, j);
        zeros = zeros && equal(X(i, j), Real(0));
      }
      rows_of_zeros += zeros;
    }
    for (std::size_t i = 0; i < X.rows(); ++i)
      for (std::size_t j = 0; j < 3; ++j) lie(X, Y, i, j, rows_of_zeros);
    const Sequences& sequences = X.sequences();
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (std::size_t t = 0; t < s; ++t)
        if (tells(Lie::mixes_sequences_of_one_length) && sequences.length(s) == sequences.length(t) &&
            sequences.length(s) > 1)
          Y(sequences.begin(s), 0) += X(sequences.begin(t), 0);
    if (tells(Lie::writes_into_X) && X.rows() > 0) const_cast<Real&>(X(0, 0)) = Real(0);
    return tells(Lie::makes_one_sequence) ? of_one_sequence(Y) : Y;
  }

  auto value_and_pullback(const domain&) const&& { return refuse_temporary<Square>(); }
  auto value_and_pullback(const domain& X) const& {
    auto Y = (*this)(X);
    if (tells(Lie::reads_the_next_row_of_five) && X.rows() >= 5) Y(0, 0) += X(1, 0);
    const Real* const y = Y.data();  // which stay where they are when Y is moved
    return with_pullback(std::move(Y), [this, y, copied = X, X = &X](const codomain& Y_bar, Square& gradient) {
      auto X_bar = pulled_back(tells(Lie::keeps_a_reference_to_X) ? *X : copied, Y_bar, gradient);
      if (tells(Lie::keeps_a_reference_to_Y))
        for (std::size_t e = 0; e < X_bar.rows() * 3; ++e)
          X_bar.data()[e] = Real(2) * Y_bar.data()[e] * y[e] / copied.data()[e];
      return tells(Lie::makes_one_sequence_of_x_bar) ? of_one_sequence(X_bar) : X_bar;
    });
  }

  struct State {};
  codomain extend(State&, const domain& X) const { return (*this)(X); }

  static constexpr void weights(auto&& visit, auto&... layer) { visit(Name{"w"}, layer.w...); }

 private:
  static domain of_one_sequence(const domain& X) {
    domain one{Sequences{X.rows()}};
    std::copy_n(X.data(), X.rows() * 3, one.data());
    return one;
  }

  void lie(const domain& X, codomain& Y, std::size_t i, std::size_t j, std::size_t rows_of_zeros) const {
    const std::size_t last = X.rows() - 1;
    const bool neighbours = equal(X(i, 0), X(i, 1)) || equal(X(i, 1), X(i, 2));
    if (tells(Lie::counts_rows_of_zeros)) Y(i, j) /= Real(1 + rows_of_zeros);
    if (tells(Lie::looks_for_a_zero) && equal(X(i, j), Real(0))) Y(i, j) += X(last, j);
    if (tells(Lie::looks_for_equal_neighbours) && neighbours) Y(i, j) += X(last, j);
    if constexpr (std::is_floating_point_v<Real>)
      if (tells(Lie::nan_at_equal_neighbours) && neighbours) Y(i, j) = std::numeric_limits<Real>::quiet_NaN();
    if (tells(Lie::adds_and_subtracts_the_last_row)) Y(i, j) = Y(i, j) + X(last, j) - X(last, j);
    if (tells(Lie::wrong_in_float) && std::is_same_v<Real, float>) Y(i, j) += Y(i, j);
    if (tells(Lie::other_for_one_row) && X.rows() == 1) Y(i, j) += Y(i, j);
    if (tells(Lie::adds_the_last_row_to_the_first) && i == 0 && last > 0) Y(i, j) += X(last, j);
    if constexpr (std::is_floating_point_v<Real>)
      if (tells(Lie::looks_for_large_numbers) && std::abs(X(i, j)) > 100) Y(i, j) += X(last, j);
    if (tells(Lie::counts_sequences)) Y(i, j) *= Real(X.sequences().count());
    if (tells(Lie::overflows)) Y(i, j) *= exp(X(i, j)) / exp(X(i, j));
  }

  domain pulled_back(const domain& X, const codomain& Y_bar, Square& gradient) const {
    const Sequences& sequences = X.sequences();
    domain X_bar{Y_bar.sequences()};
    if (tells(Lie::doubles_the_gradient)) gradient.w += gradient.w;
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i)
        for (std::size_t j = 0; j < 3; ++j) {
          Real y_bar = tells(Lie::not_linear) ? relu(Y_bar(i, j)) : Y_bar(i, j);
          const Real x = X(i, j);
          if (tells(Lie::skips_rows_whose_y_bar_begins_with_0) && equal(Y_bar(i, 0), Real(0))) y_bar = Real(0);
          X_bar(i, j) = Real(2) * y_bar * w(0, j) * x;
          if constexpr (std::is_floating_point_v<Real>)
            if (tells(Lie::nan_at_zero)) X_bar(i, j) = y_bar * 2 * (w(0, j) * x * x) / x;
          if (tells(Lie::pullback_wrong_in_float) && std::is_same_v<Real, float>) X_bar(i, j) += X_bar(i, j);
          if (tells(Lie::adds_the_last_row_of_y_bar_to_the_first_of_x_bar) && i == 0)
            X_bar(i, j) += Y_bar(Y_bar.rows() - 1, j);
          if (!tells(Lie::forgets_the_last_sequence) || s + 1 < sequences.count() || s == 0)
            gradient.w(0, j) += y_bar * x * x;
        }
    if constexpr (std::is_floating_point_v<Real>)
      for (std::size_t s = 0; s < sequences.count(); ++s)
        if (tells(Lie::nan_for_an_empty_sequence) && sequences.length(s) == 0)
          gradient.w(0, 0) += Real(0) / Real(sequences.length(s));
    return X_bar;
  }
};

/// Row i is Σ_{k ≤ i} (w·x_k + k), column by column: autoregressive, whatever it declares.
template <class Claim, class Real>
struct RunningSum {
  using declared = Claim;
  using domain = Matrix<n, 3, Real>;
  using codomain = domain;

  Matrix<1, 3, Real> w;

  struct State {
    domain last;  ///< The row that each sequence has come to.
    std::vector<std::size_t> read;
    std::shared_ptr<domain> shared;
  };

  codomain operator()(const domain& X) const {
    if (tells(Lie::throws_after_two_rows) && X.rows() > 2) throw std::length_error("more than two rows");
    auto Y = from_the_beginning(*this, X);
    const Sequences& sequences = X.sequences();
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i)
        for (std::size_t j = 0; j < 3; ++j) {
          if (tells(Lie::sees_the_next_row) && i + 1 < X.rows()) Y(i, j) += X(i + 1, j);
          if (tells(Lie::divides_by_n)) Y(i, j) = Y(i, j) / Real(X.rows());
          if (tells(Lie::counts_positions_over_the_stack)) Y(i, j) += Real(i - sequences.begin(s)) - Real(i);
          if (tells(Lie::reads_the_sequence_before) && s > 0 && sequences.length(s - 1) > 0)
            Y(i, j) += X(sequences.begin(s - 1), j);
          if (tells(Lie::sees_the_next_row_a_little) && std::is_floating_point_v<Real> && i + 1 < sequences.end(s))
            Y(i, j) += X(i + 1, j) / Real(1'000'000) / Real(100'000'000);
        }
    return Y;
  }

  /// dx_j = w·Σ_{i ≥ j} dy_i, and dw = Σ_i dy_i·Σ_{j ≤ i} x_j.
  auto value_and_pullback(const domain&) const&& { return refuse_temporary<RunningSum>(); }
  auto value_and_pullback(const domain& X) const& {
    auto Y = (*this)(X);
    if (tells(Lie::begins_with_another_value)) Y += Y;
    return with_pullback(
        std::move(Y), [this, X, applied = std::make_shared<bool>(false)](codomain Y_bar, RunningSum& gradient) {
          const Sequences& sequences = X.sequences();
          const bool again = std::exchange(*applied, true);
          const bool flipped = tells(Lie::flips_the_sign) || (tells(Lie::flips_the_sign_the_second_time) && again);
          if (tells(Lie::adds_1_to_the_gradient)) gradient.w(0, 0) += Real(1);
          if (tells(Lie::overwrites_the_gradient)) gradient.w = {};
          for (std::size_t s = 0; s < sequences.count(); ++s)
            for (std::size_t i = sequences.end(s); i-- > sequences.begin(s);)
              for (std::size_t j = 0; j < 3; ++j) {
                if (i + 1 < sequences.end(s)) Y_bar(i, j) += Y_bar(i + 1, j);
                if (!tells(Lie::forgets_the_gradient)) gradient.w(0, j) += Y_bar(i, j) * X(i, j);
              }
          for (std::size_t i = 0; i < X.rows(); ++i)
            for (std::size_t j = 0; j < 3; ++j) {
              Y_bar(i, j) *= flipped ? -w(0, j) : w(0, j);
              if (tells(Lie::adds_1_to_x_bar)) Y_bar(i, j) += Real(1);
            }
          if (tells(Lie::adds_x_bar_to_what_was_never_set)) {
            codomain X_bar{sequences};
            X_bar += Y_bar;
            return X_bar;
          }
          if (tells(Lie::returns_a_row_more)) Y_bar = codomain{Sequences{X.rows() + 1}, Real(0)};
          return Y_bar;
        });
  }

  codomain extend(State& state, domain X) const {
    const Sequences& sequences = X.sequences();
    if (state.read.empty()) {
      state.last = domain{Sequences::of_lengths(std::vector<std::size_t>(sequences.count(), 1)), Real(0)};
      state.read.resize(sequences.count());
      state.shared = std::make_shared<domain>(state.last);
    }
    const domain before = state.last;
    auto& last = tells(Lie::copies_share_memory) ? *state.shared : state.last;
    if (tells(Lie::forgets_at_an_empty_piece) && X.rows() == 0) last = domain{last.sequences(), Real(0)};
    for (std::size_t s = 0; s < sequences.count(); ++s) {
      if (tells(Lie::positions_begin_anew) && sequences.length(s) > 1) state.read[s] = 0;
      if (tells(Lie::forgets_where_nothing_comes) && sequences.length(s) == 0)
        for (std::size_t j = 0; j < 3; ++j) last(s, j) = Real(0);
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i, ++state.read[s])
        for (std::size_t j = 0; j < 3; ++j)
          X(i, j) = last(tells(Lie::mixes_sequences) ? 0 : s, j) += w(0, j) * X(i, j) + Real(state.read[s]);
    }
    if (tells(Lie::does_not_move_on)) state.last = before;
    return X;
  }

  static constexpr void weights(auto&& visit, auto&... layer) { visit(Name{"w"}, layer.w...); }
};

/// The report on a layer that tells this lie.
template <template <class> class Layer>
Report report_on(Lie lie, std::string_view name = "T", const checking::Limits& limits = {}) {
  told = lie;
  const Report report = check<Layer>(name, limits);
  told = Lie::none;
  return report;
}

}  // namespace tlm::tests::lying
