// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/base/refuse.hpp>
#include <tlm/base/xtensor.hpp>
#include <tlm/matrix/sequences.hpp>
#include <tlm/numbers/vector.hpp>

namespace tlm {

/// Where entries begin: on a cache line, so that a product's bits do not depend on where its operands happen to be.
inline constexpr std::size_t cache_line = 64;

/// Storage that begins on a cache line, for containers.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{cache_line}));
  }
  void deallocate(T* storage, std::size_t) { ::operator delete (storage, std::align_val_t{cache_line}); }
  friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) { return true; }
};

/// Whether floating-point entries that nobody has set are NaN, on this thread, and not what the memory held before: while a
/// layer is checked (tlm/checking/drawing.hpp), so that what reads them is seen.
inline constinit thread_local bool unset_is_nan = false;

/// What a matrix owns, whatever its shape: which rows belong to which sequence, and the entries. What was moved from has no
/// sequences and no rows.
template <class Real>
struct Content {
  using Xtensor = xt::xtensor<Real, 2, xt::layout_type::row_major, CacheLineAllocator<Real>>;

  /// Without sequences.
  [[gnu::noinline]] explicit Content(std::size_t cols) : entries(shape(0, cols)) {}
  /// Uninitialised, in rows of `cols`. Throws std::length_error for more than any memory has.
  [[gnu::noinline]] Content(const Sequences& of, std::size_t cols) : entries(shape(of.rows(), cols)), sequences{of} {
    if constexpr (std::is_floating_point_v<Real>)
      if (unset_is_nan) entries.fill(std::numeric_limits<Real>::quiet_NaN());
  }
  /// The same number everywhere. Throws like the constructor without.
  [[gnu::noinline]] Content(const Sequences& of, std::size_t cols, const Real& everywhere)
      : entries(shape(of.rows(), cols), everywhere), sequences{of} {}

  [[gnu::noinline]] Content(const Content&) = default;
  [[gnu::noinline]] Content(Content&& other) noexcept
      : entries{std::move(other.entries)}, sequences{std::exchange(other.sequences, {})} {
    other.entries.resize(shape(0, entries.shape(1)));  // a moved-from xtensor keeps its shape
  }
  [[gnu::noinline]] Content& operator=(Content other) noexcept {
    entries = std::move(other.entries);
    sequences = std::move(other.sequences);
    return *this;
  }
  [[gnu::noinline]] ~Content() = default;

  Xtensor entries;
  Sequences sequences;

 private:
  static typename Xtensor::shape_type shape(std::size_t rows, std::size_t cols) {
    if (rows > std::numeric_limits<std::size_t>::max() / sizeof(Real) / cols)
      refuse<std::length_error>({"a matrix of ", rows, " rows of ", cols, " is too large"});
    return {rows, cols};
  }
};

/// The entries of a matrix, in rows of `cols`: what matrices with an open and with a fixed number of rows have in common. Rows
/// and columns of the program count from 0.
template <std::size_t cols_, class Real_>
class Entries {
  static_assert(cols_ > 0, "a Matrix has at least one column");

 public:
  using Real = Real_;
  /// The number of columns.
  static constexpr std::size_t cols = cols_;

  /// The number of rows.
  std::size_t rows() const { return content_.sequences.rows(); }

  /// The entry in row i and column j.
  Real& operator()(std::size_t i, std::size_t j) { return data()[i * cols_ + j]; }
  /// The entry in row i and column j.
  const Real& operator()(std::size_t i, std::size_t j) const { return data()[i * cols_ + j]; }

  /// Row i, as a vector that refers to it: X.row(i) = X.row(j) + W.row(k).
  auto row(std::size_t i) { return as_vector<cols_>(data() + i * cols_); }
  /// Row i, as a vector that refers to it.
  auto row(std::size_t i) const { return as_vector<cols_>(data() + i * cols_); }

  /// All entries, row by row, as one vector that refers to them.
  auto entries() { return as_vector(data(), rows() * cols_); }
  /// All entries, row by row, as one vector that refers to them.
  auto entries() const { return as_vector(data(), rows() * cols_); }

  /// The entries, row by row.
  Real* data() { return content_.entries.data(); }
  /// The entries, row by row.
  const Real* data() const { return content_.entries.data(); }

  /// The container of the entries, for every function of xtensor. Its shape is not to be changed.
  typename Content<Real>::Xtensor& xtensor() { return content_.entries; }
  /// The container of the entries, for every function of xtensor.
  const typename Content<Real>::Xtensor& xtensor() const { return content_.entries; }

 protected:
  /// Without sequences.
  Entries() : content_{cols_} {}
  /// Uninitialised, as the rows of these sequences. Throws std::length_error for more than any memory has.
  explicit Entries(const Sequences& sequences) : content_{sequences, cols_} {}
  /// 0 everywhere, as one sequence of this many rows. Throws like the others.
  explicit Entries(std::size_t rows) : content_{Sequences{rows}, cols_, Real(0)} {}
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
  explicit Entries(const E& X) : Entries{Sequences{rows_of(X)}} {
    xt::noalias(xtensor()) = xt::cast<Real>(X);
  }

  /// Which rows belong to which sequence.
  const Sequences& sequences() const { return content_.sequences; }

 private:
  static std::size_t rows_of(const XtensorExpression auto& X) {
    if (X.dimension() != 2)
      refuse<std::invalid_argument>({"an expression of dimension ", X.dimension(), " cannot become a matrix"});
    if (X.shape()[1] != cols_)
      refuse<std::invalid_argument>(
          {"an expression with ", X.shape()[1], " columns cannot become a matrix with ", cols_});
    return X.shape()[0];
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
