// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/names.hpp>
#include <tlm/matrix/matrix.hpp>

/// Terms, types and lines in the language of Coq.
namespace tlm::coq {

/// A term, and how it binds.
struct Term {
  /// What a term is: F ∘ G, f x, or one word.
  enum Kind { composition, application, atom };

  Kind kind;         ///< what this one is
  std::string text;  ///< how it is written

  /// As what a function is applied to.
  std::string as_argument() const { return kind == atom ? text : "(" + text + ")"; }
  /// As what is composed.
  std::string as_factor() const { return kind == composition ? "(" + text + ")" : text; }
};

/// f applied to arguments.
inline Term applied(std::string f, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) f += " " + argument;
  return {arguments.empty() ? Term::atom : Term::application, f};
}

/// f a b, f a (f b c), …: a function of two for as many as there are.
inline Term folded(const std::string& f, const std::vector<std::string>& arguments) {
  if (arguments.size() < 3) return applied(f, arguments);
  Term term{Term::atom, arguments.back()};
  for (std::size_t k = arguments.size() - 1; k-- > 0;)
    term = {Term::application, f + " " + arguments[k] + " " + term.as_argument()};
  return term;
}

/// Factors with ∘ between them.
inline Term composed(const std::vector<std::string>& factors) {
  if (factors.size() == 1) return {Term::application, factors[0]};
  std::string text = factors[0];
  for (std::size_t k = 1; k < factors.size(); ++k) text += " ∘ " + factors[k];
  return {Term::composition, text};
}

/// The type of the rows of a matrix, or of a target: RowType<M>::text().
template <class M>
struct RowType;
/// Tokens, or rows of numbers.
template <std::size_t cols, class Real>
struct RowType<Matrix<n, cols, Real>> {
  /// As it is written.
  static std::string text() { return std::is_integral_v<Real> ? "token" : "(Row num " + std::to_string(cols) + ")"; }
};
/// Of a source and its target those of the target.
template <class Source, class Target>
struct RowType<SourceAndTarget<Source, Target>> : RowType<Target> {};

/// How many characters a text has in UTF-8.
inline std::size_t length(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// Parts side by side if they fit into a line of 120 characters; otherwise under each other, each broken at spaces.
inline std::string wrapped(const std::vector<std::string>& parts) {
  constexpr std::size_t longest = 120;
  std::string one_line, lines;
  for (const std::string& part : parts) {
    const std::size_t margin = part.find_first_not_of(' ');
    one_line += one_line.empty() ? part : " " + part.substr(margin);
    std::string line(margin, ' ');
    for (std::size_t begin = margin, end; begin < part.size(); begin = end) {
      end = std::min(part.find(' ', begin + 1), part.size());
      const std::string word = part.substr(begin, end - begin);
      if (length(line + word) > longest) {
        lines += line + "\n";
        line = std::string(margin + 1, ' ');
      }
      line += word;
    }
    lines += line + "\n";
  }
  return length(one_line) <= longest ? one_line + "\n" : lines;
}

}  // namespace tlm::coq
