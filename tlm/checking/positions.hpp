// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ostream>

#include <tlm/checking/refusals.hpp>

namespace tlm::checking {

/// Which positions did this number touch?
///
/// A "number" is the set of the positions whose rows it may depend on. Every operation unites the sets of its
/// operands. A constant or a weight depends on no position. A structural zero is more than the number 0 that happens
/// to come out: it is known to be there whatever the inputs are, it annihilates a product and vanishes in a sum. As
/// nothing branches on a value, one run covers every input and every weight of that shape.
///
/// There is room for 64 tags; `position(i)` and `codomain_position(i)` keep those of X and of Ȳ apart.
class Positions : public Refusals<Positions> {
 public:
  Positions() = default;
  /// A constant, which depends on no position. The constant 0 is a structural zero.
  template <std::integral Integer>
  explicit constexpr Positions(Integer constant) : structural_zero_{constant == 0} {}

  /// A real constant, such as a sine.
  explicit constexpr Positions(double) : structural_zero_{false} {}
  /// What a function of doubles returns: refused.
  template <std::same_as<double> Double>
  constexpr Positions(Double) : structural_zero_{!IsKnown<sizeof(Double) == 0>::value} {}

  /// A number that depends on row i < 32 of the input.
  static constexpr Positions position(std::size_t i) { return of(std::uint64_t{1} << i); }
  /// A number that depends on row i < 32 of Ȳ.
  static constexpr Positions codomain_position(std::size_t i) { return of(std::uint64_t{1} << (32 + i)); }

  /// The set, as bits: bit i for row i of the input, bit 32 + i for row i of Ȳ.
  constexpr std::uint64_t tags() const { return tags_; }
  constexpr bool structural_zero() const { return structural_zero_; }

  friend constexpr Positions operator+(Positions a, Positions b) {
    Positions sum = united(a, b);
    sum.structural_zero_ = a.structural_zero_ && b.structural_zero_;
    return sum;
  }
  friend constexpr Positions operator-(Positions a, Positions b) { return a + b; }
  friend constexpr Positions operator-(Positions a) { return a; }
  friend constexpr Positions operator*(Positions a, Positions b) {
    return a.structural_zero_ || b.structural_zero_ ? Positions(0) : united(a, b);
  }
  friend constexpr Positions operator/(Positions a, Positions b) { return a.structural_zero_ ? a : united(a, b); }
  constexpr Positions& operator+=(Positions other) { return *this = *this + other; }
  constexpr Positions& operator-=(Positions other) { return *this = *this - other; }
  constexpr Positions& operator*=(Positions other) { return *this = *this * other; }
  constexpr Positions& operator/=(Positions other) { return *this = *this / other; }
  friend constexpr bool same(Positions a, Positions b) {
    return a.tags_ == b.tags_ && a.structural_zero_ == b.structural_zero_;
  }

  friend constexpr Positions exp(Positions a) { return of(a.tags_); }  // exp(0) is not 0
  friend constexpr Positions log(Positions a) { return of(a.tags_); }
  friend constexpr Positions sqrt(Positions a) { return a; }
  friend constexpr Positions relu(Positions a) { return a; }
  friend constexpr Positions relu_derivative(Positions a) { return of(a.tags_); }
  friend constexpr Positions normal_cdf(Positions a) { return of(a.tags_); }
  friend constexpr Positions normal_density(Positions a) { return of(a.tags_); }
  friend constexpr Positions tanh(Positions a) { return a; }
  friend constexpr Positions maximum(const Positions* numbers, std::size_t count) {
    Positions all(0);
    for (std::size_t j = 0; j < count; ++j) all += numbers[j];
    return all;
  }
  friend constexpr Positions quotient_or_zero(Positions a, Positions b) { return a / b; }

  /// As in {1, 3} for the rows of the input, counted from 1 as in the write-up, and {1, 3 | 2} with those of Ȳ.
  friend std::ostream& operator<<(std::ostream& out, Positions a) {
    if (a.structural_zero_) return out << "0";
    out << '{';
    const char* separator = "";
    for (unsigned i = 0; i < 64; ++i) {
      if (i == 32 && (a.tags_ >> 32) != 0) {
        out << " | ";
        separator = "";
      }
      if ((a.tags_ >> i & 1) == 0) continue;
      out << separator << i % 32 + 1;
      separator = ", ";
    }
    return out << '}';
  }

 private:
  static constexpr Positions of(std::uint64_t tags) {
    Positions result(1);
    result.tags_ = tags;
    return result;
  }
  static constexpr Positions united(Positions a, Positions b) { return of(a.tags_ | b.tags_); }

  std::uint64_t tags_ = 0;
  bool structural_zero_ = true;
};

}  // namespace tlm::checking
