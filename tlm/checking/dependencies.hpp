// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <utility>

#include <tlm/checking/refusals.hpp>

namespace tlm::checking {

/// Which rows does this number depend on?
///
/// A "number" is the set of the positions whose rows it may depend on. Every operation unites the sets of its operands.
/// A constant or a weight depends on no position. A structural zero is 0 whatever the inputs are: it annihilates a
/// product, if the other factor is finite, and vanishes in a sum. Nothing branches on a value, so one run covers all
/// inputs and weights of that shape at which no number overflows.
class Dependencies : public Refusals<Dependencies> {
 public:
  Dependencies() = default;
  /// A constant, which depends on no position. The constant 0 is a structural zero.
  template <std::integral Integer>
  explicit constexpr Dependencies(Integer constant) : structural_zero_{constant == 0} {}

  /// A real constant, such as a sine.
  explicit constexpr Dependencies(double) : structural_zero_{false} {}
  /// The result of a function of doubles: refused.
  template <std::same_as<double> Double>
  constexpr Dependencies(Double) : structural_zero_{!IsKnown<sizeof(Double) == 0>::value} {}

  /// A number that depends on row i < 32 of the input.
  static constexpr Dependencies position(std::size_t i) { return of(std::uint64_t{1} << i); }
  /// A number that depends on row i < 32 of Ȳ; in a stack, on the source of sequence i.
  static constexpr Dependencies codomain_position(std::size_t i) { return of(std::uint64_t{1} << (32 + i)); }

  /// The set, as bits: bit i for row i of the input, bit 32 + i for row i of Ȳ, or for source i.
  constexpr std::uint64_t tags() const { return tags_; }
  constexpr bool structural_zero() const { return structural_zero_; }

  friend constexpr Dependencies operator+(Dependencies a, Dependencies b) {
    return {a.tags_ | b.tags_, a.structural_zero_ && b.structural_zero_};
  }
  friend constexpr Dependencies operator-(Dependencies a, Dependencies b) { return a + b; }
  friend constexpr Dependencies operator-(Dependencies a) { return a; }
  friend constexpr Dependencies operator*(Dependencies a, Dependencies b) {
    return a.structural_zero_ || b.structural_zero_ ? Dependencies(0) : united(a, b);
  }
  friend constexpr Dependencies operator/(Dependencies a, Dependencies b) {
    return a.structural_zero_ ? a : united(a, b);
  }
  friend constexpr bool same(Dependencies a, Dependencies b) {
    return a.tags_ == b.tags_ && a.structural_zero_ == b.structural_zero_;
  }

  friend constexpr Dependencies exp(Dependencies a) { return of(a.tags_); }  // exp(0) is not 0
  friend constexpr Dependencies log(Dependencies a) { return of(a.tags_); }
  friend constexpr Dependencies sqrt(Dependencies a) { return a; }
  friend constexpr Dependencies relu(Dependencies a) { return a; }
  friend constexpr Dependencies relu_derivative(Dependencies a) { return of(a.tags_); }
  friend constexpr Dependencies normal_cdf(Dependencies a) { return of(a.tags_); }
  friend constexpr Dependencies normal_density(Dependencies a) { return of(a.tags_); }
  friend constexpr Dependencies tanh(Dependencies a) { return a; }
  friend constexpr Dependencies maximum(const Dependencies* numbers, std::size_t count) {
    Dependencies all(0);
    for (std::size_t j = 0; j < count; ++j) all += numbers[j];
    return all;
  }
  friend constexpr Dependencies quotient_or_zero(Dependencies a, Dependencies b) { return a / b; }

  /// As in {1, 3} for the rows of the input, counted from 1 as in the book, and {1, 3 | 2} with those of Ȳ, or sources.
  friend std::ostream& operator<<(std::ostream& out, Dependencies a) {
    if (a.structural_zero_) return out << "0";
    out << '{';
    const char* separator = "";
    for (unsigned i = 0; i < 64; ++i) {
      if (i == 32) separator = " | ";
      if ((a.tags_ >> i & 1) != 0) out << std::exchange(separator, ", ") << i % 32 + 1;
    }
    return out << '}';
  }

 private:
  constexpr Dependencies(std::uint64_t tags, bool structural_zero) : tags_{tags}, structural_zero_{structural_zero} {}
  static constexpr Dependencies of(std::uint64_t tags) { return {tags, false}; }
  static constexpr Dependencies united(Dependencies a, Dependencies b) { return of(a.tags_ | b.tags_); }

  std::uint64_t tags_ = 0;
  bool structural_zero_ = true;
};

}  // namespace tlm::checking
