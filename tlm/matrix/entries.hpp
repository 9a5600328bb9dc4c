// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include <tlm/matrix/content.hpp>
#include <tlm/matrix/refuse.hpp>

namespace tlm {

namespace detail {

/// y += x, of so many entries: compiled once, and not for each shape of a matrix.
template <class Real>
[[gnu::noinline]] void add(std::size_t count, const Real* x, Real* y) {
  for (std::size_t e = 0; e < count; ++e) y[e] += x[e];
}

}  // namespace detail

/// What xtensor computes with. (By what it has, so that only a program which uses xtensor includes it.)
template <class E>
concept XtensorExpression = requires {
  typename E::shape_type;
  typename E::expression_tag;
};

/// The entries of a matrix, in rows of `cols`, on the heap: what matrices with an open and with a fixed number of rows have
/// in common. Rows and columns of the program count from 0.
template <std::size_t cols_, class Real_>
class Entries {
  static_assert(cols_ > 0, "a Matrix has at least one column");

 public:
  using Real = Real_;
  /// The number of columns.
  static constexpr std::size_t cols = cols_;

  /// The number of rows.
  std::size_t rows() const { return content_.sequences().rows(); }

  /// The entry in row i and column j.
  Real& operator()(std::size_t i, std::size_t j) { return data()[i * cols_ + j]; }
  /// The entry in row i and column j.
  const Real& operator()(std::size_t i, std::size_t j) const { return data()[i * cols_ + j]; }

  /// Row i: its entries where they are.
  std::span<Real, cols_> row(std::size_t i) { return std::span<Real, cols_>{data() + i * cols_, cols_}; }
  /// Row i: its entries where they are.
  std::span<const Real, cols_> row(std::size_t i) const {
    return std::span<const Real, cols_>{data() + i * cols_, cols_};
  }

  /// X_i = x.
  void set_row(std::size_t i, std::span<const Real, cols_> x) { std::copy_n(x.begin(), cols_, data() + i * cols_); }

  /// X_i += x.
  void add_to_row(std::size_t i, std::span<const Real, cols_> x) { detail::add(cols_, x.data(), data() + i * cols_); }

  /// The entries, row by row.
  Real* data() { return content_.entries(); }
  /// The entries, row by row.
  const Real* data() const { return content_.entries(); }

  /// A copy of the matrix, for xtensor's functions: xt::xtensor<Real, 2>(X).
  template <XtensorExpression Xtensor>
  explicit operator Xtensor() const {
    Xtensor copy(typename Xtensor::shape_type{rows(), cols_});
    for (std::size_t i = 0; i < rows(); ++i)
      for (std::size_t j = 0; j < cols_; ++j) copy(i, j) = (*this)(i, j);
    return copy;
  }

 protected:
  /// Without sequences.
  Entries() = default;
  /// Uninitialised, as the rows of these sequences. Throws std::length_error for more than any memory has.
  explicit Entries(const Sequences& sequences) : content_{sequences, cols_} {}
  /// 0 everywhere, as one sequence of this many rows. Throws like the others.
  explicit Entries(std::size_t rows) : content_{rows, cols_} {}
  /// The same number everywhere. Throws like the constructor without.
  Entries(const Sequences& sequences, const Real& everywhere) : content_{sequences, cols_, everywhere} {}
  /// Row by row. Throws std::invalid_argument if they do not fill the rows of these sequences.
  Entries(const Sequences& sequences, const std::vector<Real>& entries) : Entries{filled(sequences, entries)} {
    std::copy(entries.begin(), entries.end(), data());
  }
  /// Row by row, as one sequence. Throws std::invalid_argument if they do not fill whole rows.
  explicit Entries(const std::vector<Real>& entries) : Entries{Sequences{whole_rows(entries.size())}, entries} {}
  /// From an xtensor expression, as one sequence. Throws std::invalid_argument unless it has rows, and as many columns.
  template <XtensorExpression E>
  explicit Entries(const E& expression) : Entries{evaluated(expression)} {}

  /// Which rows belong to which sequence.
  const Sequences& sequences() const { return content_.sequences(); }

  /// Entry by entry; both have as many rows.
  void add(const Entries& other) { detail::add(rows() * cols_, other.data(), data()); }
  bool same(const Entries& other) const {
    return rows() == other.rows() && std::equal(data(), data() + rows() * cols_, other.data());
  }

 private:
  static Entries evaluated(const XtensorExpression auto& X) {
    if (X.dimension() != 2)
      refuse<std::invalid_argument>({"an expression of dimension ", X.dimension(), " cannot become a matrix"});
    if (X.shape()[1] != cols_)
      refuse<std::invalid_argument>(
          {"an expression with ", X.shape()[1], " columns cannot become a matrix with ", cols_});
    Entries entries{Sequences{X.shape()[0]}};
    for (std::size_t i = 0; i < entries.rows(); ++i)
      for (std::size_t j = 0; j < cols_; ++j) entries(i, j) = Real(X(i, j));
    return entries;
  }

  static const Sequences& filled(const Sequences& sequences, const std::vector<Real>& entries) {
    if (entries.size() != sequences.rows() * cols_)
      refuse<std::invalid_argument>({entries.size(), " entries do not fill ", sequences.rows(), " rows of ", cols_});
    return sequences;
  }

  static std::size_t whole_rows(std::size_t entries) {
    if (entries % cols_ != 0)
      refuse<std::invalid_argument>({entries, " entries do not make a matrix of rows of ", cols_});
    return entries / cols_;
  }

  Content<Real> content_;
};

}  // namespace tlm
