// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/matrix/xtensor.hpp>

namespace tlm {

/// Storage that begins on a cache line, so that a product's bits do not depend on where its operands happen to lie.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), alignment)); }
  void deallocate(T* storage, std::size_t) { ::operator delete(storage, alignment); }
  friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) { return true; }

 private:
  static constexpr std::align_val_t alignment{64};
};

/// Whether floating-point entries that nobody has set are NaN, on this thread, and not what the memory held before: while a
/// layer is checked (tlm/checking/drawing.hpp), so that what reads them is seen.
inline constinit thread_local bool unset_is_nan = false;

/// The entries of a matrix, in rows of `cols`, on the heap: what matrices with an open and with a fixed number of rows have
/// in common. Rows and columns of the program count from 0.
template <std::size_t cols_, class Real_>
class Entries {
  static_assert(cols_ > 0, "a Matrix has at least one column");

 public:
  using Real = Real_;
  /// The matrix as an xtensor.
  using Xtensor = xt::xtensor<Real, 2, xt::layout_type::row_major, CacheLineAllocator<Real>>;

  /// The number of columns.
  static constexpr std::size_t cols = cols_;

  /// The number of rows.
  std::size_t rows() const { return storage_.size() / cols_; }

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
  void add_to_row(std::size_t i, std::span<const Real, cols_> x) {
    const auto X_i = row(i);
    for (std::size_t j = 0; j < cols_; ++j) X_i[j] += x[j];
  }

  /// The entries, row by row.
  Real* data() { return storage_.data(); }
  /// The entries, row by row.
  const Real* data() const { return storage_.data(); }

  /// A copy of the matrix, for xtensor's functions.
  explicit operator Xtensor() const {
    Xtensor copy{typename Xtensor::shape_type{rows(), cols_}};
    std::copy(storage_.begin(), storage_.end(), copy.begin());
    return copy;
  }

 protected:
  /// Uninitialised. Throws std::length_error for more rows than any memory has.
  explicit Entries(std::size_t rows) : storage_(size(rows)) {
    if constexpr (std::is_floating_point_v<Real>)
      if (unset_is_nan) std::fill_n(data(), rows * cols_, std::numeric_limits<Real>::quiet_NaN());
  }
  /// The same number everywhere. Throws like the constructor from a number of rows.
  Entries(std::size_t rows, Real everywhere) : storage_(size(rows), everywhere) {}
  /// Row by row. Throws std::invalid_argument if they do not fill whole rows.
  explicit Entries(const std::vector<Real>& entries) : Entries{whole_rows(entries.size())} {
    std::copy(entries.begin(), entries.end(), storage_.begin());
  }
  /// From an xtensor expression. Throws std::invalid_argument if it has another number of columns.
  template <class E>
  explicit Entries(const xt::xexpression<E>& expression) {
    Xtensor evaluated{expression.derived_cast()};
    if (evaluated.shape(1) != cols_)
      throw std::invalid_argument("an expression with " + std::to_string(evaluated.shape(1)) +
                                  " columns cannot become a matrix with " + std::to_string(cols_));
    storage_ = std::move(evaluated.storage());
  }

  /// Entry by entry; both have as many rows.
  void add(const Entries& other) {
    for (std::size_t e = 0; e < storage_.size(); ++e) data()[e] += other.data()[e];
  }
  bool same(const Entries& other) const {
    return storage_.size() == other.storage_.size() &&
           std::equal(storage_.begin(), storage_.end(), other.storage_.begin());
  }

 private:
  static std::size_t size(std::size_t rows) {
    if (rows > std::numeric_limits<std::size_t>::max() / sizeof(Real) / cols_)
      throw std::length_error("a matrix of " + std::to_string(rows) + " rows of " + std::to_string(cols_) +
                              " is too large");
    return rows * cols_;
  }

  static std::size_t whole_rows(std::size_t entries) {
    if (entries % cols_ != 0)
      throw std::invalid_argument(std::to_string(entries) + " entries do not make a matrix of rows of " +
                                  std::to_string(cols_));
    return entries / cols_;
  }

  // What an xtensor keeps its entries in. An xtensor has a shape, strides and a shared pointer beside them, whose moves and
  // ends would be compiled in every layer.
  typename Xtensor::storage_type storage_;
};

}  // namespace tlm
