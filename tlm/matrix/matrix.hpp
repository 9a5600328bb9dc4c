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

namespace detail {

/// The alignment of entries: they begin on a cache line, so that the bits of a product do not depend on where its
/// operands are.
inline constexpr std::size_t cache_line = 64;

/// An allocator for containers, whose storage begins on a cache line.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{cache_line}));
  }
  void deallocate(T* storage, std::size_t) { ::operator delete (storage, std::align_val_t{cache_line}); }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
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
  using Xtensor = xt::xtensor<Real, 2, xt::layout_type::row_major, AlignedAllocator<Real>>;
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
  Xtensor& xtensor() & { return entries_; }
  /// The container of the entries, for every function of xtensor.
  const Xtensor& xtensor() const& { return entries_; }
  /// The container of a matrix that ends here, as in for (const auto& y : T(X).xtensor()).
  Xtensor xtensor() && {
    Entries ending = std::move(*this);
    return std::move(ending.entries_);
  }

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

}  // namespace detail

/// The type of `n`, the number of rows, which a definition leaves open.
enum Open {
  n  ///< As in "for each matrix X with n rows": Matrix<n, d_model>.
};

/// A matrix whose shape is its type. (X + Y is below, X * W in product.hpp.)
///
/// `rows` is a number, or `n` where a definition leaves the number of rows open: Matrix<2, 3>, Matrix<n, d_model>. The
/// number may be a std::size_t or an int.
template <auto rows, std::size_t cols, class Real = float>
class Matrix : public Matrix<std::size_t{1}, cols, Real> {
  static_assert(std::is_same_v<decltype(rows), int>,
                "the rows of a Matrix are n, a std::size_t or an int, as in Matrix<n, 3> and Matrix<2, 3>");
};

/// The book's usual shape: a stack of sequences (see Sequences). A stack of one sequence is the book's X.
template <auto rows_, std::size_t cols_, class Real_>
requires std::is_same_v<decltype(rows_), Open>
class Matrix<rows_, cols_, Real_> : public detail::Entries<cols_, Real_> {
  using Base = detail::Entries<cols_, Real_>;

 public:
  using Base::Base;
  using typename Base::Real;

  Matrix() = default;
  /// From its entries, row by row, for these sequences. Throws std::invalid_argument unless they fill their rows.
  Matrix(const Sequences& sequences, std::initializer_list<Real> entries)
      : Base{sequences, std::vector<Real>(entries)} {}
  /// From its entries, row by row, as one sequence. Throws std::invalid_argument if they do not fill whole rows.
  template <class = void>  // which stands back: {{1}, {2}} are two sequences
  Matrix(std::initializer_list<Real> entries) : Base{std::vector<Real>(entries)} {}
  /// A column, from the entries of each sequence: Tokens{{1, 2}, {}, {5}}. A sequence may be empty.
  Matrix(std::initializer_list<std::initializer_list<Real>> sequences) requires(cols_ == 1)
      : Matrix{std::vector<std::vector<Real>>(sequences.begin(), sequences.end())} {}

  /// A column, from the entries of each sequence. A sequence may be empty.
  explicit Matrix(const std::vector<std::vector<Real>>& sequences) requires(cols_ == 1)
      : Matrix{of_lengths_of(sequences)} {
    Real* next = this->data();
    for (const auto& entries : sequences) next = std::copy(entries.begin(), entries.end(), next);
  }

  /// Which rows belong to which sequence.
  const Sequences& sequences() const { return Base::sequences(); }

  /// Uninitialised, with the same sequences and another number of columns.
  template <std::size_t other_cols>
  Matrix<n, other_cols, Real> with_columns() const {
    return Matrix<n, other_cols, Real>{sequences()};
  }

  /// Entry by entry. Throws std::invalid_argument unless both have the same number of rows.
  Matrix& operator+=(const Matrix& other) {
    if (this->rows() != other.rows())
      refuse<std::invalid_argument>(
          {"a matrix with ", other.rows(), " rows cannot be added to one with ", this->rows()});
    this->entries() += other.entries();
    return *this;
  }

  /// Adds B to every row: the matrix B "whose rows are identical" is kept as one row.
  Matrix& operator+=(const Matrix<std::size_t{1}, cols_, Real>& B) {
    for (std::size_t i = 0; i < this->rows(); ++i) this->row(i) += B.row(0);
    return *this;
  }

  /// Entry by entry. Throws like +=.
  friend Matrix operator+(Matrix left, const Matrix& right) { return std::move(left += right); }

  /// X|i: every sequence of X reduced to its first i rows. Throws std::out_of_range if a sequence has fewer than i.
  friend Matrix operator|(const Matrix& X, std::size_t i) {
    for (std::size_t s = 0; s < X.sequences().count(); ++s)
      if (i > X.sequences().length(s))
        refuse<std::out_of_range>({"X|", i, " of a sequence with only ", X.sequences().length(s), " rows"});
    Matrix reduced{Sequences::of_lengths(std::vector<std::size_t>(X.sequences().count(), i))};
    for (std::size_t s = 0; s < X.sequences().count(); ++s)
      std::copy_n(X.data() + X.sequences().begin(s) * cols_, i * cols_, reduced.data() + s * i * cols_);
    return reduced;
  }

  /// The same entries in the same sequences.
  friend bool operator==(const Matrix& left, const Matrix& right) {
    return left.sequences() == right.sequences() && left.xtensor() == right.xtensor();
  }

 private:
  static Sequences of_lengths_of(const std::vector<std::vector<Real>>& sequences) {
    std::vector<std::size_t> lengths(sequences.size());
    for (std::size_t s = 0; s < sequences.size(); ++s) lengths[s] = sequences[s].size();
    return Sequences::of_lengths(lengths);
  }
};

/// A matrix with a fixed number of rows: a weight.
template <auto rows_, std::size_t cols_, class Real_>
requires std::is_same_v<decltype(rows_), std::size_t>
class Matrix<rows_, cols_, Real_> : public detail::Entries<cols_, Real_> {
  using Base = detail::Entries<cols_, Real_>;

 public:
  using typename Base::Real;

  /// The number of entries.
  static constexpr std::size_t size = rows_ * cols_;

  /// Zero everywhere.
  Matrix() : Base{Sequences{rows_}, Real(0)} {}

  /// From its entries, row by row. Throws std::invalid_argument unless there are `size` of them.
  Matrix(std::initializer_list<Real> entries) : Matrix{std::vector<Real>(entries)} {}

  /// From its entries, row by row. Throws like the constructor from a list.
  explicit Matrix(const std::vector<Real>& entries) : Base{all(entries)} {}

  /// From an xtensor expression. Throws std::invalid_argument if its shape is another.
  template <detail::XtensorExpression E>
  explicit Matrix(const E& expression) : Base{expression} {
    if (this->rows() != rows_)
      refuse<std::invalid_argument>({"an expression with ", this->rows(), " rows cannot become a matrix with ", rows_});
  }

  /// Zero everywhere, with as many rows and another number of columns.
  template <std::size_t other_cols>
  Matrix<rows_, other_cols, Real> with_columns() const {
    return {};
  }

  /// Entry by entry.
  Matrix& operator+=(const Matrix& other) {
    this->entries() += other.entries();
    return *this;
  }

  /// Entry by entry.
  friend Matrix operator+(Matrix left, const Matrix& right) { return std::move(left += right); }

  /// The same entries.
  friend bool operator==(const Matrix& left, const Matrix& right) { return left.xtensor() == right.xtensor(); }

 private:
  static const std::vector<Real>& all(const std::vector<Real>& entries) {
    if (entries.size() != size)
      refuse<std::invalid_argument>({entries.size(), " entries do not make a matrix of ", rows_, " rows of ", cols_});
    return entries;
  }
};

/// Matrix<2, 3> is a Matrix<std::size_t{2}, 3>, so that you can write an int.
template <auto rows_, std::size_t cols_, class Real_>
requires std::is_same_v<decltype(rows_), int>
class Matrix<rows_, cols_, Real_> : public Matrix<std::size_t(rows_), cols_, Real_> {
  using Base = Matrix<std::size_t(rows_), cols_, Real_>;

 public:
  Matrix() = default;
  Matrix(const Base& matrix) : Base{matrix} {}
  Matrix(std::initializer_list<Real_> entries) : Base{entries} {}
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
