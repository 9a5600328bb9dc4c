// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <tlm/matrix/matrix.hpp>

/// How matrices are printed: as small tables. If there are many rows, columns or sequences, the first and the last are
/// shown, with "…" for the others. A last line tells how many there are.
namespace tlm {

namespace detail {

/// Which of that many rows, columns or sequences are shown: all of up to 10, otherwise the first 6 and the last 3.
struct Excerpt {
  std::size_t count;

  bool is_all() const { return count <= 10; }

  /// show(i) for each that is shown, and leave_out() once for the others.
  void for_each(const auto& show, const auto& leave_out) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (i == 6 && !is_all()) {
        leave_out();
        i = count - 3;
      }
      show(i);
    }
  }
};

/// Prints entry(i, j) for i < rows and j < cols: a line for each row, with columns flush right, in the stream's number
/// format. There is no line feed at the end.
void print_table(std::ostream& out, std::size_t rows, std::size_t cols, const auto& entry) {
  if (rows == 0) {
    out << "no rows";
    return;
  }
  const auto as_text = [&out](const auto& number) {
    std::ostringstream text;
    text.copyfmt(out);
    text.width(0);
    text << number;
    return text.str();
  };
  const Excerpt shown_rows{rows}, shown_cols{cols};
  std::vector<std::vector<std::string>> table;
  const auto add_row = [&](const auto& text) {
    auto& row = table.emplace_back();
    shown_cols.for_each([&](std::size_t j) { row.push_back(text(j)); }, [&] { row.push_back("…"); });
  };
  shown_rows.for_each([&](std::size_t i) { add_row([&](std::size_t j) { return as_text(entry(i, j)); }); },
                      [&] { add_row([](std::size_t) { return "…"; }); });

  // In UTF-8 the bytes that continue a letter begin with the bits 10.
  const auto letters = [](const std::string& text) {
    return std::size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  };
  std::vector<std::size_t> widths(table.front().size());
  for (const auto& row : table)
    for (std::size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], letters(row[j]));
  out.width(0);
  for (const auto& row : table) {
    if (&row != &table.front()) out << '\n';
    for (std::size_t j = 0; j < row.size(); ++j)
      out << (j > 0 ? "  " : "") << std::string(widths[j] - letters(row[j]), ' ') << row[j];
  }
  if (!shown_rows.is_all() || !shown_cols.is_all())
    out << "\n(" + std::to_string(rows) + (rows == 1 ? " row of " : " rows of ") + std::to_string(cols) + ")";
}

/// Prints a stack; rows_from(first, count) prints that many rows. One sequence is printed as it is. Each of several has
/// a line with its number, from 1. There is no line feed at the end.
void print_sequences(std::ostream& out, const Sequences& sequences, const auto& rows_from) {
  if (sequences.count() == 0) out << "no sequences";
  if (sequences.count() == 1) rows_from(0, sequences.rows());
  if (sequences.count() < 2) return;
  const Excerpt shown{sequences.count()};
  shown.for_each(
      [&](std::size_t s) {
        out << (s > 0 ? "\n" : "") << "sequence " + std::to_string(s + 1) + ":\n";
        rows_from(sequences.begin(s), sequences.length(s));
      },
      [&] { out << "\n…"; });
  if (!shown.is_all()) out << "\n(" + std::to_string(sequences.count()) + " sequences)";
}

}  // namespace detail

/// X as a small table, the sequences of a stack one under the other.
template <auto rows, std::size_t cols, class Real>
requires requires(std::ostream& out, const Real& x) { out << x; }
std::ostream& operator<<(std::ostream& out, const Matrix<rows, cols, Real>& X) {
  const auto rows_from = [&](std::size_t first, std::size_t count) {
    detail::print_table(out, count, cols,
                        [&, first](std::size_t i, std::size_t j) -> const Real& { return X(first + i, j); });
  };
  if constexpr (requires { X.sequences(); })
    detail::print_sequences(out, X.sequences(), rows_from);
  else
    rows_from(0, X.rows());
  return out;
}

}  // namespace tlm
