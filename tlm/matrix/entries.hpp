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

namespace tlm::detail {

/// The alignment of entries: they begin on a cache line, so that the bits of a product do not depend on where its
/// operands are.
inline constexpr std::size_t cache_line = 64;

/// An allocator for containers, whose storage begins on a cache line.
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

/// True if unset floating-point entries are NaN on this thread, instead of what the memory held before. Checks set it
/// (tlm/checking/drawing.hpp), so that a layer that reads such entries is seen.
inline constinit thread_local bool unset_is_nan = false;

/// What all matrices have in common: the entries, in rows of `cols`, and which rows belong to which sequence. In code
/// rows and columns count from 0. A moved-from matrix has no sequences and no rows.
template <std::size_t cols_, class Real_>
class Entries {
  static_assert(cols_ > 0, "a Matrix has at least one column");

 public:
  using Real = Real_;
  using Xtensor = xt::xtensor<Real, 2, xt::layout_type::row_major, CacheLineAllocator<Real>>;
  /// The number of columns.
  static constexpr std::size_t cols = cols_;

  /// Without sequences.
  Entries() : entries_(shape(0)) {}
  /// Uninitialised, with the rows of these sequences. Throws std::length_error if no memory has room for them.
  explicit Entries(const Sequences& sequences) : sequences_{sequences}, entries_(shape(sequences.rows())) {
    if constexpr (std::is_floating_point_v<Real>)
      if (unset_is_nan) entries_.fill(std::numeric_limits<Real>::quiet_NaN());
  }
  /// The same number everywhere. Throws like the constructor without a number.
  Entries(const Sequences& sequences, const Real& everywhere)
      : sequences_{sequences}, entries_(shape(sequences.rows()), everywhere) {}
  /// Row by row, for these sequences. Throws std::invalid_argument if they do not fill their rows.
  Entries(const Sequences& sequences, const std::vector<Real>& entries) : Entries{filled(sequences, entries)} {
    std::copy(entries.begin(), entries.end(), data());
  }
  /// Row by row, as one sequence. Throws std::invalid_argument if they do not fill whole rows.
  explicit Entries(const std::vector<Real>& entries) : Entries{Sequences{whole_rows(entries.size())}, entries} {}
  /// From an xtensor expression, as one sequence. Throws std::invalid_argument unless it has rows, and as many columns.
  template <XtensorExpression E>
  explicit Entries(const E& X) : Entries{Sequences{rows_of(X)}} {
    xt::noalias(entries_) = xt::cast<Real>(X);
  }

  Entries(const Entries&) = default;
  Entries(Entries&& other) noexcept
      : sequences_{std::exchange(other.sequences_, {})}, entries_{std::move(other.entries_)} {
    other.entries_.resize({0, cols_});  // a moved-from xtensor keeps its shape
  }
  Entries& operator=(Entries other) noexcept {
    sequences_ = std::move(other.sequences_);
    entries_ = std::move(other.entries_);
    return *this;
  }
  ~Entries() = default;

  /// The number of rows.
  std::size_t rows() const { return sequences_.rows(); }

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
  Real* data() { return entries_.data(); }
  /// The entries, row by row.
  const Real* data() const { return entries_.data(); }

  /// The container of the entries, for every function of xtensor. Its shape is not to be changed.
  Xtensor& xtensor() { return entries_; }
  /// The container of the entries, for every function of xtensor.
  const Xtensor& xtensor() const { return entries_; }

 protected:
  /// Which rows belong to which sequence.
  const Sequences& sequences() const { return sequences_; }

 private:
  static typename Xtensor::shape_type shape(std::size_t rows) {
    if (rows > std::numeric_limits<std::size_t>::max() / sizeof(Real) / cols_)
      refuse<std::length_error>({"a matrix of ", rows, " rows of ", cols_, " is too large"});
    return {rows, cols_};
  }

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

  Sequences sequences_;
  Xtensor entries_;
};

}  // namespace tlm::detail
