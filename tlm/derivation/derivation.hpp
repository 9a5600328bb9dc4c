// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tlm/algebra/rules.hpp>
#include <tlm/derivation/notation.hpp>

/// How the compiler derives what an operation is by the rules of tlm/algebra/rules.hpp, as data and as text.
namespace tlm {

/// The compiler's words for T. (In a member of a template they have tlm::, which a function in namespace tlm would leave
/// out.)
template <class T>
struct Spelled {
  /// Such as "… [with T = tlm::ReLU<3>; …]".
  static constexpr std::string_view text() { return __PRETTY_FUNCTION__; }
};

/// A statement and why it follows, or what it lacks: a derivation.
struct Step {
  std::string object;         ///< In the book's notation: T_LM, X ↦ X×W_Q.
  std::string equation;       ///< What its symbol stands for: CA(X) = …; may be empty.
  std::string_view claim;     ///< "autoregressive"
  bool follows;               ///< True if "object is claim" follows.
  std::string_view rule;      ///< The rule that concludes it, or would. Empty if declared, or none.
  std::string_view sentence;  ///< The rule's sentence.
  std::string_view declared;  ///< What a leaf declares; empty for anything else.
  std::string_view spelled;   ///< A leaf's type, in the compiler's words (Spelled); empty for anything else.
  std::vector<Step> parts;    ///< The rule's premises, each with its derivation.
};

namespace detail {

/// What `lacking` returns for a rule that concludes something else.
inline constexpr std::size_t another_claim = std::size_t(-1);
/// How many premises of its conclusion a rule lacks.
template <class Claim, Symbol name, Symbol sentence, class Conclusion, class... T, class... Premise>
constexpr std::size_t lacking(rules::Rule<name, sentence, Conclusion, rules::Is<T, Premise>...>) {
  if (!std::is_same_v<Conclusion, Claim>) return another_claim;
  return (std::size_t{0} + ... + std::size_t{!rules::follows<T, Premise>});
}

}  // namespace detail

/// action(rule) with the rule by which "T is Claim" follows, or that of T's form which lacks the fewest premises: the
/// first of several. With none if T declares it, or no rule concludes it.
template <class T, class Claim>
void by_which(const auto& action) {
  const auto first_of_fewest = [&]<class... Rule>(rules::List<Rule...>) {
    constexpr std::size_t fewest = std::min({detail::another_claim, detail::lacking<Claim>(Rule{})...});
    [[maybe_unused]] const auto look_at = [&]<class R>(R rule) {
      constexpr bool chosen = fewest != detail::another_claim && detail::lacking<Claim>(R{}) == fewest;
      if constexpr (chosen) action(rule);
      return chosen;
    };
    static_cast<void>((look_at(Rule{}) || ...));
  };
  if constexpr (rules::one_applies<Claim, rules::RulesOfAll<T>>)
    first_of_fewest(rules::RulesOfAll<T>{});
  else
    first_of_fewest(typename rules::Rules<T>::type{});
}

/// The most that can be said of T: that it is rowwise, independent of X, a causal kernel, or autoregressive. If nothing
/// can be said, it is "autoregressive" too.
template <class T>
using Strongest =
    std::conditional_t<rowwise<T>, is::Rowwise,
                       std::conditional_t<constant<T>, is::Constant,
                                          std::conditional_t<causal_kernel<T>, is::CausalKernel, is::Autoregressive>>>;

/// How the compiler derives "T is Claim", or what T lacks. Without a Claim it is the most that can be said of T.
template <class T, class Claim = Strongest<T>>
Step derivation() {
  Step step{notation<T>().text, equation<T>(), Claim::text, rules::follows<T, Claim>, "", "", "", "", {}};
  if constexpr (rules::Leaf<T>) {
    step.declared = T::declared::text;
    step.spelled = Spelled<T>::text();
  }
  by_which<T, Claim>([&]<Symbol name, Symbol sentence, class... Part, class... Premise>(
      rules::Rule<name, sentence, Claim, rules::Is<Part, Premise>...> rule) {
    step.rule = rule.name;
    step.sentence = rule.sentence;
    step.parts = {derivation<Part, Premise>()...};
  });
  return step;
}

/// A derivation line by line. Each line names an object in the book's notation, what it is, and by which rule. Its parts
/// follow, indented, down to the declarations of the leaves.
inline std::string written_out(const Step& derived, std::size_t depth = 0) {
  const Step* step = &derived;
  std::string line = std::string(2 * depth, ' ') + step->object + " is ";
  if (!step->follows) {
    line += "not known to be " + std::string(step->claim);
  } else if (step->rule == "rowwise_is_autoregressive") {  // said on the same line
    step = &step->parts[0];
    line += std::string(step->claim) + ", hence autoregressive";
  } else {
    line += step->claim;
  }
  line += ": " + (step->equation.empty() ? "" : step->equation + "; ");
  if (!step->sentence.empty())
    line += (step->follows ? "" : "it lacks a premise of: ") + std::string(step->sentence);
  else if (!step->declared.empty())
    line += step->follows ? "declared" : "declared " + std::string(step->declared);
  else
    line += "no rule says it of this form";
  line += "\n";
  for (const Step& part : step->parts) line += written_out(part, depth + 1);
  return line;
}

}  // namespace tlm
