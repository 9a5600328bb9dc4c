// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <tlm/base/generator.hpp>
#include <tlm/base/hash.hpp>
#include <tlm/base/refuse.hpp>
#include "pairs.hpp"

namespace tlm {

/// A task for a translator: numbers in words, from English to French. "eighty-one thousand four hundred ninety-nine" is
/// « quatre-vingt-un mille quatre cent quatre-vingt-dix-neuf ».
///
/// Numbers have up to `digits` digits. A hash holds out about one number in `one_in`: it is never drawn to learn from.
/// 0 is not held out, because no other number has its word.
class NumbersInWords {
 public:
  /// The largest number that can be written in words here.
  static constexpr int greatest = 999'999'999;

  /// Throws std::invalid_argument unless 1 ≤ digits ≤ 9, 2 ≤ one_in ≤ 1000, and some number of at most this many
  /// digits is held out.
  explicit NumbersInWords(int digits = 9, int one_in = 10) : digits_{digits}, one_in_{one_in} {
    if (digits < 1 || digits > 9) refuse<std::invalid_argument>({"numbers in words have 1 to 9 digits, not ", digits});
    if (one_in < 2 || one_in > 1000)
      refuse<std::invalid_argument>({"one number in 2 to one in 1000 can be held out, not one in ", one_in});
    int number = 0;
    while (number < below(digits) && !held_out(number)) ++number;
    if (number == below(digits))
      refuse<std::invalid_argument>(
          {"with one in ", one_in, ", none of the numbers below ", below(digits), " is held out"});
  }

  /// Whether a number is held out.
  bool held_out(int number) const { return number > 0 && mixed(std::uint64_t(number)) % std::uint64_t(one_in_) == 0; }

  /// A number to learn from, and one that is held out. First the number of digits is drawn, all equally likely, and
  /// then a number with that many digits. If it is on the other side, both are drawn again. So short numbers are as
  /// frequent as long ones, except for those of one digit: one of the sides may have few or none.
  int training_number(Generator& generator) const { return draw(false, generator); }
  int held_out_number(Generator& generator) const { return draw(true, generator); }

  /// A number in English and in French. Its place, which messages name, is the number in digits. Throws like english.
  static SentencePair pair(int number) { return {english(number), french(number), std::to_string(number)}; }

  /// In English: twenty-one, one hundred one, one million two thousand. Throws std::out_of_range unless
  /// 0 ≤ number ≤ greatest.
  static std::string english(int number) {
    require(number);
    if (number == 0) return "zero";
    std::string words;
    if (number >= 1'000'000) append(words, english_group(number / 1'000'000) + " million");
    if (number / 1000 % 1000 > 0) append(words, english_group(number / 1000 % 1000) + " thousand");
    append(words, english_group(number % 1000));
    return words;
  }

  /// In French, as it was written before 1990: hyphens join what is below a hundred, but not around « et ».
  ///
  /// « et » is before un and onze, but not after quatre-vingt. Vingt (in quatre-vingts) and cent have an s if they are
  /// multiplied and no numeral follows. Mille is a numeral; million is a noun. One thousand is mille without un. Throws
  /// like english.
  static std::string french(int number) {
    require(number);
    if (number == 0) return "zéro";
    std::string words;
    const int millions = number / 1'000'000, thousands = number / 1000 % 1000;
    if (millions > 0) append(words, french_group(millions, true) + (millions == 1 ? " million" : " millions"));
    if (thousands > 1) append(words, french_group(thousands, false));
    if (thousands > 0) append(words, "mille");
    append(words, french_group(number % 1000, true));
    return words;
  }

 private:
  int draw(bool of_the_held_out, Generator& generator) const {
    for (;;) {
      const int length = generator.integer(1, digits_);
      const int number = generator.integer(length == 1 ? 0 : below(length - 1), below(length) - 1);
      if (held_out(number) == of_the_held_out) return number;
    }
  }

  static int below(int digits) {
    int power = 1;
    for (int i = 0; i < digits; ++i) power *= 10;
    return power;
  }

  static void require(int number) {
    if (number < 0 || number > greatest)
      refuse<std::out_of_range>({"words are given for the numbers 0 to ", greatest, ", not for ", number});
  }

  /// Appends words. A space comes between if there are words on both sides.
  static void append(std::string& words, const std::string& more) {
    if (!words.empty() && !more.empty()) words += ' ';
    words += more;
  }

  /// Of a number below 1000; empty for 0.
  static std::string english_group(int number) {
    static constexpr std::array small{"",         "one",     "two",     "three",     "four",     "five",    "six",
                                      "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
                                      "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
    static constexpr std::array tens{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};
    std::string words;
    if (number >= 100) words = std::string(small[std::size_t(number / 100)]) + " hundred";
    const auto rest = std::size_t(number % 100);
    if (rest < 20)
      append(words, small[rest]);
    else
      append(words, std::string(tens[rest / 10 - 2]) + (rest % 10 > 0 ? "-" : "") + small[rest % 10]);
    return words;
  }

  /// The words of a number below 1000; empty for 0. `ends` is whether no numeral follows.
  static std::string french_group(int number, bool ends) {
    static constexpr std::array small{"",         "un",     "deux",  "trois",    "quatre",   "cinq",    "six",
                                      "sept",     "huit",   "neuf",  "dix",      "onze",     "douze",   "treize",
                                      "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf"};
    static constexpr std::array tens{"vingt", "trente", "quarante", "cinquante", "soixante", "", "quatre-vingt"};
    const int hundreds = number / 100, rest = number % 100;
    std::string words;
    if (hundreds > 1) words = std::string(small[std::size_t(hundreds)]) + ' ';
    if (hundreds > 0) words += hundreds > 1 && rest == 0 && ends ? "cents" : "cent";
    if (rest < 20) {
      append(words, small[std::size_t(rest)]);
      return words;
    }
    // From soixante and quatre-vingt it counts on to 19: there is no word for 70, and none for 90.
    const int base = rest < 60 ? rest / 10 * 10 : rest / 20 * 20, units = rest - base;
    std::string below_hundred = tens[std::size_t(base / 10 - 2)];
    if (units == 0)
      below_hundred += base == 80 && ends ? "s" : "";
    else
      below_hundred += std::string(units % 10 == 1 && base < 80 ? " et " : "-") + small[std::size_t(units)];
    append(words, below_hundred);
    return words;
  }

  int digits_, one_in_;
};

}  // namespace tlm
