// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
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

/// The type of `n`, the number of rows, which a definition leaves open.
enum Open {
  n  ///< As in "for each matrix X with n rows": Matrix<n, d_model>.
};

namespace detail {

/// An allocator for containers, whose storage begins on a cache line, so that the bits of a product do not depend on where
/// its matrices are in memory.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t cache_line{64};
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), cache_line)); }
  void deallocate(T* storage, std::size_t) { ::operator delete(storage, cache_line); }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

}  // namespace detail

/// A matrix whose shape is its type. (X + Y is below, X * W in product.hpp, X|i in rearranged.hpp.)
///
/// `rows` is a number, or `n` where a definition leaves the number of rows open: Matrix<2, 3>, Matrix<n, d_model>. The
/// number may be a std::size_t or an int.
///
/// Matrix<n, cols> is the book's usual shape: a stack of sequences (see Sequences). A stack of one sequence is the book's
/// X. A matrix with a fixed number of rows is a weight. In code rows and columns count from 0. A moved-from matrix has no
/// sequences and no rows, and is not to be multiplied.
template <auto rows_, std::size_t cols_, class Real_ = float>
class Matrix {
  static constexpr bool is_stack = std::is_same_v<decltype(rows_), Open>;
  static_assert(is_stack || std::is_same_v<decltype(rows_), std::size_t>,
                "the rows of a Matrix are n, a std::size_t or an int, as in Matrix<n, 3> and Matrix<2, 3>");
  static_assert(cols_ > 0, "a Matrix has at least one column");

 public:
  using Real = Real_;
  using Xtensor = xt::xtensor<Real, 2, xt::layout_type::row_major, detail::AlignedAllocator<Real>>;
  /// The number of columns.
  static constexpr std::size_t cols = cols_;
  /// The number of rows, where it is fixed.
  static constexpr std::size_t fixed_rows() requires(!is_stack) { return std::size_t(rows_); }

  /// A stack without sequences; a matrix with a fixed number of rows is zero everywhere.
  Matrix()
      : sequences_{is_stack ? Sequences{} : Sequences{std::size_t(rows_)}},
        entries_(shape(sequences_.rows()), Real(0)) {}
  /// Zero everywhere, with the rows of these sequences. Throws std::length_error if they are too many.
  explicit Matrix(const Sequences& sequences) requires(is_stack) : Matrix{sequences, Real(0)} {}
  /// The same number everywhere. Throws like the constructor without a number.
  Matrix(const Sequences& sequences, const Real& everywhere) requires(is_stack)
      : sequences_{sequences}, entries_(shape(sequences.rows()), everywhere) {}
  /// From its entries, row by row, for these sequences. Throws like the constructor without entries, and
  /// std::invalid_argument unless they fill their rows.
  Matrix(const Sequences& sequences, const std::vector<Real>& entries) requires(is_stack) : Matrix{sequences} {
    fill(entries);
  }
  /// From its entries, row by row, for these sequences. Throws like the constructor from a vector.
  Matrix(const Sequences& sequences, std::initializer_list<Real> entries) requires(is_stack)
      : Matrix{sequences, std::vector<Real>(entries)} {}

  /// From its entries, row by row, as one sequence. Throws std::invalid_argument if they do not fill whole rows, or not
  /// the number of rows that is fixed.
  explicit Matrix(const std::vector<Real>& entries)
      : sequences_{is_stack ? (entries.size() + cols_ - 1) / cols_ : std::size_t(rows_)},
        entries_(shape(sequences_.rows())) {
    fill(entries);
  }
  /// From its entries, row by row, as one sequence. Throws like the constructor from a vector.
  template <class = void>  // which stands back: {{1}, {2}} are two sequences
  Matrix(std::initializer_list<Real> entries) : Matrix{std::vector<Real>(entries)} {}

  /// A column, from the entries of each sequence: Tokens{{1, 2}, {}, {5}}. A sequence may be empty.
  Matrix(std::initializer_list<std::initializer_list<Real>> sequences) requires(is_stack&& cols_ == 1)
      : Matrix{std::vector<std::vector<Real>>(sequences.begin(), sequences.end())} {}
  /// A column, from the entries of each sequence. A sequence may be empty.
  explicit Matrix(const std::vector<std::vector<Real>>& sequences) requires(is_stack&& cols_ == 1) {
    std::vector<std::size_t> lengths;
    for (const auto& entries : sequences) lengths.push_back(entries.size());
    *this = Matrix{Sequences::of_lengths(lengths)};
    Real* next = data();
    for (const auto& entries : sequences) next = std::copy(entries.begin(), entries.end(), next);
  }

  /// From an xtensor expression, as one sequence. Throws std::invalid_argument unless it has rows, as many columns, and
  /// as many rows as are fixed.
  template <detail::XtensorExpression E>
  explicit Matrix(const E& X) : sequences_{rows_of(X)}, entries_(shape(sequences_.rows())) {
    xt::noalias(entries_) = xt::cast<Real>(X);
  }

  Matrix(const Matrix&) = default;
  Matrix(Matrix&& other) noexcept
      : sequences_{std::exchange(other.sequences_, {})}, entries_{std::move(other.entries_)} {
    other.entries_.resize({0, cols_});  // a moved-from xtensor keeps its shape
  }
  Matrix& operator=(Matrix other) noexcept {
    sequences_ = std::move(other.sequences_);
    entries_ = std::move(other.entries_);
    return *this;
  }

  /// Which rows belong to which sequence of a stack.
  const Sequences& sequences() const requires(is_stack) { return sequences_; }
  /// The number of rows.
  std::size_t rows() const { return sequences_.rows(); }

  /// The entry in row i and column j.
  Real& operator()(std::size_t i, std::size_t j) { return data()[i * cols_ + j]; }
  /// The entry in row i and column j.
  const Real& operator()(std::size_t i, std::size_t j) const { return data()[i * cols_ + j]; }

  /// Row i, as a vector that refers to it: X.row(i) = X.row(j) + W.row(k).
  auto row(std::size_t i) & { return detail::as_vector<cols_>(data() + i * cols_); }
  /// Row i, as a vector that refers to it.
  auto row(std::size_t i) const& { return detail::as_vector<cols_>(data() + i * cols_); }
  void row(std::size_t) const&& = delete;  ///< It would outlive a matrix that ends here. Give that a name.

  /// All entries, row by row, as one vector that refers to them.
  auto entries() & { return detail::as_vector(data(), rows() * cols_); }
  /// All entries, row by row, as one vector that refers to them.
  auto entries() const& { return detail::as_vector(data(), rows() * cols_); }
  void entries() const&& = delete;  ///< As row.

  /// The entries, row by row.
  Real* data() { return entries_.data(); }
  /// The entries, row by row.
  const Real* data() const { return entries_.data(); }

  /// The container of the entries, for every function of xtensor. Its shape is not to be changed.
  Xtensor& xtensor() & { return entries_; }
  /// The container of the entries, for every function of xtensor.
  const Xtensor& xtensor() const& { return entries_; }
  /// The container of a matrix that ends here, as in for (const auto& y : T(X).xtensor()).
  Xtensor xtensor() && { return std::move(Matrix{std::move(*this)}.entries_); }

  /// Zero everywhere, with as many rows and another number of columns. A stack has the same sequences.
  template <std::size_t other_cols>
  Matrix<rows_, other_cols, Real> with_columns() const {
    if constexpr (is_stack) return Matrix<n, other_cols, Real>{sequences_};
    return {};
  }

  /// Entry by entry. Throws std::invalid_argument unless both have the same sequences.
  Matrix& operator+=(const Matrix& other) {
    require_same_sequences("a sum", sequences_, "what is added to it", other.sequences_);
    entries() += other.entries();
    return *this;
  }
  /// Adds B to every row: the matrix B "whose rows are identical" is kept as one row.
  Matrix& operator+=(const Matrix<std::size_t{1}, cols_, Real>& B) requires(is_stack) {
    for (std::size_t i = 0; i < rows(); ++i) row(i) += B.row(0);
    return *this;
  }
  /// Entry by entry. Throws like +=.
  friend Matrix operator+(Matrix left, const Matrix& right) { return std::move(left += right); }

  /// The same entries in the same sequences.
  friend bool operator==(const Matrix& left, const Matrix& right) = default;

 private:
  void fill(const std::vector<Real>& entries) {
    if (entries.size() != rows() * cols_)
      refuse<std::invalid_argument>({entries.size(), " entries do not fill ", rows(), " rows of ", cols_});
    std::copy(entries.begin(), entries.end(), data());
  }

  static typename Xtensor::shape_type shape(std::size_t rows) {
    if (std::max(rows, cols_) > std::size_t(std::numeric_limits<int>::max()) ||  // BLAS counts both in an int
        rows > std::size_t(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(Real) / cols_)
      refuse<std::length_error>({"a matrix of ", rows, " rows of ", cols_, " is too large"});
    return {rows, cols_};
  }

  static std::size_t rows_of(const detail::XtensorExpression auto& X) {
    if (X.dimension() != 2)
      refuse<std::invalid_argument>({"an expression of dimension ", X.dimension(), " cannot become a matrix"});
    const std::size_t rows = X.shape()[0], columns = X.shape()[1], needed = is_stack ? rows : std::size_t(rows_);
    if (rows != needed || columns != cols_)
      refuse<std::invalid_argument>(
          {"an expression of shape ", rows, "×", columns, " cannot become a matrix of shape ", needed, "×", cols_});
    return rows;
  }

  Sequences sequences_;
  Xtensor entries_;
};

/// Matrix<2, 3> is a Matrix<std::size_t{2}, 3>, so that you can write an int.
template <auto rows_, std::size_t cols_, class Real_>
requires std::is_same_v<decltype(rows_), int>
class Matrix<rows_, cols_, Real_> : public Matrix<std::size_t(rows_), cols_, Real_> {
  using Base = Matrix<std::size_t(rows_), cols_, Real_>;

 public:
  Matrix() = default;
  Matrix(const Base& matrix) : Base{matrix} {}
  using Base::Base;
};

/// A matrix of one row, such as one that is added to every row of an X.
template <std::size_t cols, class Real = float>
using Row = Matrix<std::size_t{1}, cols, Real>;

/// A token: an integer from {0, 1, …, vocab_size − 1}.
using Token = int;

/// Sequences of tokens, "interpreted as a matrix of dimension n×1".
using Tokens = Matrix<n, 1, Token>;

}  // namespace tlm
