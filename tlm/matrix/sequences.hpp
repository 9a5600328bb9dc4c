// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tlm/base/language.hpp>
#include <tlm/base/refuse.hpp>

namespace tlm {

/// Where each sequence of a stack begins and ends.
///
/// A stack is several sequences one under the other, each with its own number of rows. Sequence s consists of the
/// rows begin(s) … end(s) − 1. One sequence is the X of the book, and costs no allocation.
/// What is moved from is one sequence of as many rows, or none.
class Sequences {
 public:
  /// No sequences.
  Sequences() = default;

  /// One sequence of this many rows, which may be 0.
  explicit Sequences(std::size_t rows) : any_{true}, rows_{rows} {}

  /// One sequence after the other, of these lengths. Throws std::length_error if no std::size_t counts all their rows.
  static Sequences of_lengths(const std::vector<std::size_t>& lengths) {
    std::vector<std::size_t> ends(lengths.size());
    std::size_t rows = 0;
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      ends[s] = rows += lengths[s];
      if (rows < lengths[s])
        refuse<std::length_error>({"the rows of ", s + 1, " sequences are too many to be counted"});
    }
    Sequences result{rows};
    if (ends.size() != 1) result.ends_ = std::make_shared<const std::vector<std::size_t>>(std::move(ends));
    return result;
  }

  /// The number of sequences.
  std::size_t count() const { return ends_ ? ends_->size() : any_; }
  /// The number of rows of all sequences together.
  std::size_t rows() const { return rows_; }
  /// The first row of sequence s.
  std::size_t begin(std::size_t s) const { return s == 0 ? 0 : (*ends_)[s - 1]; }
  /// The row after the last row of sequence s.
  std::size_t end(std::size_t s) const { return ends_ ? (*ends_)[s] : rows_; }
  /// The number of rows of sequence s.
  std::size_t length(std::size_t s) const { return end(s) - begin(s); }

  /// The same sequences, of the same lengths.
  friend bool operator==(const Sequences& left, const Sequences& right) {
    return left.count() == right.count() && left.rows() == right.rows() &&
           (left.count() < 2 || left.ends_ == right.ends_ || *left.ends_ == *right.ends_);
  }

 private:
  bool any_ = false;
  std::size_t rows_ = 0;
  std::shared_ptr<const std::vector<std::size_t>> ends_;  // null: at most one sequence
};

/// Throws std::invalid_argument, with the names of both, unless they are the same sequences. Call it before reading the
/// rows of two matrices side by side.
inline void require_same_sequences(const char* left_name, const Sequences& left, const char* right_name,
                                   const Sequences& right) {
  if (left.count() != right.count())
    refuse<std::invalid_argument>(
        {"the number of sequences is ", left.count(), " in ", left_name, ", but ", right.count(), " in ", right_name});
  for (std::size_t s = 0; s < left.count(); ++s)
    if (left.length(s) != right.length(s))
      refuse<std::invalid_argument>({"the number of rows of sequence ", s + 1, " is ", left.length(s), " in ",
                                     left_name, ", but ", right.length(s), " in ", right_name});
}

namespace detail {

/// Throws std::invalid_argument, with both numbers, unless a stack of this many sequences is continued by as many.
inline void require_continuation(std::size_t count, std::size_t by) {
  if (count != by) refuse<std::invalid_argument>({"a stack of ", count, " sequences cannot be continued by ", by});
}

}  // namespace detail

}  // namespace tlm
