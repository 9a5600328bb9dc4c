// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tlm/base/language.hpp>

namespace tlm {

/// A claim that failed, with a counter-example. What does not apply stays empty and is not printed.
struct Failure {
  /// A number or a set, and what it is: "T(X|i) gives 0.5".
  struct Value {
    std::string label, value;
  };

  std::string claim{}, layer{}, arithmetic{};
  std::optional<std::uint64_t> seed{};
  std::optional<std::size_t> n{}, i{};  ///< The number of rows, and the row at which they are cut; from 1.
  std::string place{};                  ///< The circumstances where no n and i say them: "in a stack of …".
  std::string entry{};                  ///< The entry in which the two values differ.
  Value left{}, right{};
  std::string remark{};

  friend std::ostream& operator<<(std::ostream& out, const Failure& failure) {
    out << "\n  " << failure.claim << " — fails for " << failure.layer;
    if (!failure.arithmetic.empty()) out << "\n  seen over " << failure.arithmetic;
    const char* separator = " at ";
    if (failure.n) out << std::exchange(separator, ", ") << "n = " << *failure.n;
    if (failure.i) out << separator << "i = " << *failure.i;
    if (!failure.place.empty()) out << ", " << failure.place;
    if (!failure.entry.empty()) out << ", in " << failure.entry;
    if (!failure.left.label.empty()) out << ':';
    for (const Value* value : {&failure.left, &failure.right})
      if (!value->label.empty()) out << "\n    " << value->label << ' ' << value->value;
    if (!failure.remark.empty()) out << "\n  " << failure.remark;
    if (failure.seed) out << "\n  seed " << *failure.seed;
    return out;
  }
};

/// What was checked of a layer, line by line: what holds, what fails and with what counter-example, and notes.
///
/// Every line carries its scope (which arithmetic, how many rows), so that it says no more than was shown.
class Report {
 public:
  /// A statement. If it fails there is a failure; a note is neither shown nor refuted, but said.
  struct Line {
    std::string statement;
    std::optional<Failure> failure{};
    bool note = false;
  };

  explicit Report(std::string_view layer) : layer_{layer} {}

  /// The name of the layer.
  const std::string& layer() const { return layer_; }
  /// All lines, in the order in which they were checked.
  const std::vector<Line>& lines() const& { return lines_; }
  std::vector<Line> lines() && { return std::move(lines_); }

  /// A statement that was checked: it holds if there is no failure.
  void checked(std::string statement, std::optional<Failure> failure) {
    lines_.push_back({std::move(statement), std::move(failure)});
  }
  /// Something to know.
  void note(std::string sentence) { lines_.push_back({std::move(sentence), std::nullopt, true}); }

  /// Whether nothing failed.
  bool holds() const { return failed() == 0; }
  /// How many statements were checked.
  std::size_t statements() const { return std::size_t(std::ranges::count(lines_, false, &Line::note)); }
  /// How many of them failed.
  std::size_t failed() const {
    return std::size_t(std::ranges::count_if(lines_, [](const Line& line) { return line.failure.has_value(); }));
  }

  /// True if all failures were seen over the prime field, without a remark, and the same statements hold over other
  /// numbers.
  bool fails_over_the_field_alone() const {
    const auto claim = [](const Line& line) { return line.statement.substr(0, line.statement.find(": ")); };
    const auto holds_elsewhere = [&](const Line& failed) {
      return std::ranges::any_of(
          lines_, [&](const Line& line) { return !line.failure && !line.note && claim(line) == claim(failed); });
    };
    return std::ranges::all_of(lines_, [&](const Line& line) {
      return !line.failure || (line.failure->arithmetic.ends_with("prime field") && line.failure->remark.empty() &&
                               holds_elsewhere(line));
    });
  }

  /// One line for each statement, "holds: …", "FAILS: …" or "note: …"; a counter-example is indented below. Then how many
  /// there are, or how many of them fail, and with which to begin.
  friend std::ostream& operator<<(std::ostream& out, const Report& report) {
    for (const Line& line : report.lines_) {
      out << (line.failure ? "FAILS: " : line.note ? "note:  " : "holds: ") << line.statement;
      if (line.failure) out << *line.failure;
      out << '\n';
    }
    if (report.holds()) return out << "all " << report.statements() << " statements hold\n";
    out << report.failed() << " of " << report.statements() << " statements fail\n";
    if (report.failed() > 1)
      out << "note:  begin with the first that fails: what is below may fail for the same reason\n";
    if (report.fails_over_the_field_alone())
      out << "note:  over the prime field alone: a constant made from a double, Real(std::sin(a)), is any number "
             "there, and Real(std::sin(-a)) another; and exp(a + b) is not exp(a)·exp(b)\n";
    return out;
  }

 private:
  std::string layer_;
  std::vector<Line> lines_;
};

}  // namespace tlm
