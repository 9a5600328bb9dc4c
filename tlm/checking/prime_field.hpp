// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <type_traits>

#include <tlm/base/generator.hpp>
#include <tlm/base/hash.hpp>
#include <tlm/checking/refusals.hpp>

namespace tlm::checking {

/// A denominator happened to be 0, and the numbers must be drawn again.
struct ZeroDenominator : std::domain_error {
  ZeroDenominator() : std::domain_error("division by zero in the prime field: draw again") {}
};

/// The field of p = 2⁶¹ − 1 elements, with exp, log, sqrt, tanh, Φ, φ, ReLU and the maximum of a row as uninterpreted
/// functions.
///
/// An uninterpreted function is a hash with a key. It maps equal arguments to equal numbers, and obeys no other law
/// (exp(a+b) is not exp(a)·exp(b), sqrt(a)² is not a). An equality that holds over every field and for all such
/// functions holds here exactly, without any tolerance. Any other equality is refuted with overwhelming probability.
///
/// Constructors are explicit, and there is neither an order nor ==. So code that mixes in other numbers or branches on
/// a value does not compile, and Refusals give the reason.
class PrimeField : public Refusals<PrimeField> {
 public:
  static constexpr std::uint64_t p = (std::uint64_t{1} << 61) - 1;

  PrimeField() = default;
  template <std::integral Integer>
  requires(!std::is_same_v<Integer, bool>) explicit constexpr PrimeField(Integer integer)
      : residue_{integer < 0 ? p - std::uint64_t(-(integer + 1)) % p - 1 : std::uint64_t(integer) % p} {}

  /// A real constant, such as a sine: some element, the same for the same constant.
  explicit PrimeField(double constant) : PrimeField{hash(8, std::bit_cast<std::uint64_t>(constant))} {}
  /// The result of a function of doubles: refused.
  template <std::same_as<double> Double>
  constexpr PrimeField(Double) : PrimeField{int(IsKnown<sizeof(Double) == 0>::value)} {}

  /// Uniformly distributed over the field, but for one element in 2⁶¹.
  static PrimeField random(Generator& generator) {
    return PrimeField(std::uint64_t(generator.uniform() * 0x1p53) * 256 + std::uint64_t(generator.integer(0, 255)));
  }

  /// The residue, from 0 to p − 1.
  constexpr std::uint64_t residue() const { return residue_; }

  friend constexpr PrimeField operator+(PrimeField a, PrimeField b) { return PrimeField(a.residue_ + b.residue_); }
  friend constexpr PrimeField operator-(PrimeField a) { return PrimeField(p - a.residue_); }
  friend constexpr PrimeField operator-(PrimeField a, PrimeField b) { return a + -b; }
  friend constexpr PrimeField operator*(PrimeField a, PrimeField b) {
    // 2⁶¹ = 1, so that the high and the low 61 bits of the product may be added.
    __extension__ using Wide = unsigned __int128;
    const Wide product = Wide{a.residue_} * b.residue_;
    return PrimeField((std::uint64_t(product) & p) + std::uint64_t(product >> 61));
  }
  /// Throws ZeroDenominator.
  friend constexpr PrimeField operator/(PrimeField a, PrimeField b) {
    if (b.residue_ == 0) throw ZeroDenominator{};
    for (; b.residue_ > 1; b = PrimeField(p % b.residue_)) a = a * -PrimeField(p / b.residue_);
    return a;  // p = q·b + r is 0, hence 1/b = −q/r
  }
  friend constexpr bool same(PrimeField a, PrimeField b) { return a.residue_ == b.residue_; }

  friend std::ostream& operator<<(std::ostream& out, PrimeField a) { return out << a.residue_; }

  /// The key of the uninterpreted functions. With another key they are other functions.
  static inline std::uint64_t key = 1;

  friend PrimeField exp(PrimeField a) { return hash(1, a.residue_); }
  friend PrimeField log(PrimeField a) { return hash(2, a.residue_); }
  friend PrimeField sqrt(PrimeField a) { return hash(3, a.residue_); }
  friend PrimeField relu(PrimeField a) { return hash(4, a.residue_); }
  friend PrimeField relu_derivative(PrimeField a) { return hash(5, a.residue_); }
  friend PrimeField normal_cdf(PrimeField a) { return hash(11, a.residue_); }
  friend PrimeField normal_density(PrimeField a) { return hash(12, a.residue_); }
  friend PrimeField tanh(PrimeField a) { return hash(13, a.residue_); }
  /// A symmetric function of the multiset of numbers: of the maximum, only its independence of the order is used.
  friend PrimeField maximum(const PrimeField* numbers, std::size_t count) {
    PrimeField sum(count);
    for (std::size_t j = 0; j < count; ++j) sum += hash(6, numbers[j].residue_);
    return hash(7, sum.residue_);
  }
  /// The case b = 0 is left to ℝ: here it throws ZeroDenominator.
  friend PrimeField quotient_or_zero(PrimeField a, PrimeField b) { return a / b; }
  /// An uninterpreted function with a number from 1 to 15, of any argument.
  static PrimeField hash(std::uint64_t function, std::uint64_t argument) {
    // The key and the function are mixed in once, and the argument once.
    return PrimeField(mixed(mixed(key * 16 + function) ^ argument));
  }

 private:
  std::uint64_t residue_ = 0;
};

}  // namespace tlm::checking
