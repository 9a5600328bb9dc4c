// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Tables of what was measured.
namespace table {

/// A number with this many digits after the point.
inline std::string rounded(double number, int digits) {
  std::string text(64, ' ');
  text.resize(std::size_t(std::snprintf(text.data(), text.size(), "%.*f", digits, number)));
  return text;
}

/// Prints each row when it is there, and writes all of them as TSV.
class Table {
 public:
  using Row = std::vector<std::string>;

  explicit Table(Row columns) { row(std::move(columns)); }

  void row(Row cells) {
    rows_.push_back(std::move(cells));
    const Row& columns = rows_.front();
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const std::string& cell = rows_.back()[j];
      const std::string space(
          std::max(j == 0 ? 34 : std::max<std::size_t>(8, width(columns[j])), width(cell)) - width(cell), ' ');
      std::printf("%s", (j == 0 ? cell + space : "  " + space + cell).c_str());
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  /// Throws std::runtime_error if it cannot be written.
  void write(const std::filesystem::path& path) const {
    std::filesystem::create_directories(std::filesystem::absolute(path).parent_path());
    std::ofstream file{path};
    for (const Row& row : rows_)
      for (std::size_t j = 0; j < row.size(); ++j) file << row[j] << (j + 1 < row.size() ? '\t' : '\n');
    if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
  }

 private:
  /// How many characters a text has, in UTF-8.
  static std::size_t width(const std::string& text) {
    return std::size_t(std::count_if(text.begin(), text.end(), [](unsigned char byte) { return byte >> 6 != 2; }));
  }

  std::vector<Row> rows_;
};

}  // namespace table
