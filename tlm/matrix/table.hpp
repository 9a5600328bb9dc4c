// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <tlm/matrix/matrix.hpp>

/// How matrices are printed: as small tables. If there are many rows, columns or sequences, the first and the last are
/// shown, with "…" for the others. A last line tells how many there are.
namespace tlm {

namespace detail {

/// Which of `count` rows, columns or sequences are shown: all of up to 10, otherwise the first 6 and the last 3. Between
/// them, `count` itself is the place of the others.
inline std::vector<std::size_t> excerpt(std::size_t count) {
  if (count > 10) return {0, 1, 2, 3, 4, 5, count, count - 3, count - 2, count - 1};
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// Prints the rows of X from `first` on, `count` of them: a line for each row, with columns flush right, in the stream's
/// number format. There is no line feed at the end.
template <auto rows, std::size_t cols, class Real>
std::ostream& print_rows(std::ostream& out, const Matrix<rows, cols, Real>& X, std::size_t first, std::size_t count) {
  if (count == 0) return out << "no rows";
  // In UTF-8 the bytes that continue a letter begin with the bits 10.
  const auto letters = [](const std::string& text) {
    return std::size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  };
  std::vector<std::vector<std::string>> table;
  const auto shown = excerpt(cols);
  std::vector<std::size_t> widths(shown.size());
  for (const std::size_t i : excerpt(count)) {
    auto& row = table.emplace_back();
    for (const std::size_t j : shown) {
      std::ostringstream text;
      text.copyfmt(out);
      if (i == count || j == cols)
        text << "…";
      else
        text << X(first + i, j);
      std::size_t& width = widths[row.size()];
      width = std::max(width, letters(row.emplace_back(text.str())));
    }
  }
  for (const auto& row : table) {
    if (&row != &table.front()) out << '\n';
    for (std::size_t j = 0; j < row.size(); ++j)
      out << (j > 0 ? "  " : "") << std::string(widths[j] - letters(row[j]), ' ') << row[j];
  }
  if (table.size() < count || shown.size() < cols)
    out << "\n(" + std::to_string(count) + (count == 1 ? " row of " : " rows of ") + std::to_string(cols) + ")";
  return out;
}

}  // namespace detail

/// X as a small table. One sequence is printed as it is. Each of several has a line with its number, from 1. There is no
/// line feed at the end.
template <auto rows, std::size_t cols, class Real>
requires requires(std::ostream& out, const Real& x) { out << x; }
std::ostream& operator<<(std::ostream& out, const Matrix<rows, cols, Real>& X) {
  out.width(0);  // a table has several lines, and no width of its own
  Sequences sequences{X.rows()};
  if constexpr (requires { X.sequences(); }) sequences = X.sequences();
  if (sequences.count() == 0) return out << "no sequences";
  if (sequences.count() == 1) return detail::print_rows(out, X, 0, X.rows());
  for (const std::size_t s : detail::excerpt(sequences.count())) {
    out << (s > 0 ? "\n" : "");
    if (s == sequences.count()) {
      out << "…";
    } else {
      out << "sequence " + std::to_string(s + 1) + ":\n";
      detail::print_rows(out, X, sequences.begin(s), sequences.length(s));
    }
  }
  if (sequences.count() > 10) out << "\n(" + std::to_string(sequences.count()) + " sequences)";
  return out;
}

}  // namespace tlm
