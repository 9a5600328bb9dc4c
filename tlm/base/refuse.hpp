// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include <tlm/base/language.hpp>

/// How the library refuses: by one sentence that names the value and the limit.
namespace tlm {

namespace detail {

/// Part of a sentence: words, or a number in the fewest digits that are read back as the same. It refers to the words.
class Word {
 public:
  /// Words, as they are.
  Word(const char* words) : text_{words} {}
  Word(std::string_view words) : text_{words} {}
  Word(const std::string& words) : text_{words} {}
  /// A number: 3, -0.25, 1e+300, nan or inf.
  template <class Number>
  requires(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>)
      [[gnu::cold, gnu::noinline]] Word(Number number)
      : text_{digits_, std::to_chars(digits_, digits_ + sizeof digits_, number).ptr} {}
  Word(const Word&) = delete;

  /// The text.
  std::string_view text() const { return text_; }

 private:
  char digits_[32];
  std::string_view text_;
};

/// The sentence of these words: sentence({"there are ", 2, " rows"}).
[[gnu::cold, gnu::noinline]] inline std::string sentence(std::initializer_list<Word> words) {
  std::string whole;
  for (const Word& word : words) whole += word.text();
  return whole;
}

/// The base of a condition that asserts. If it does not hold, the compiler reports it once: `value` is true all the same.
struct Condition : std::true_type {};

}  // namespace detail

/// Throws an Error with this sentence. (It is a function of its own, so that making the sentence is compiled once, and
/// not again for each shape of a matrix.)
template <class Error>
[[noreturn, gnu::cold, gnu::noinline]] void refuse(std::initializer_list<detail::Word> words) {
  throw Error(sentence(words));
}

}  // namespace tlm
