// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/algebra/rules.hpp>
#include <tlm/derivation/notation.hpp>

/// How the compiler derives what an operation is by the rules of tlm/algebra/rules.hpp, as data and as text.
namespace tlm {

/// The name of T in C++. (In a member of a template the compiler spells T with tlm::, which it would leave out in a function
/// in namespace tlm.)
template <class T>
struct NameOf {
  /// Without arguments, such as "tlm::Normalization". In an unnamed namespace it is "::F".
  static std::string text() {
    std::string_view name = __PRETTY_FUNCTION__;  // … [with T = tlm::Normalization<…>; …]
    name.remove_prefix(name.find("T = ") + 4);
    std::string result;
    int depth = 0;
    for (const char c : name) {
      if (depth == 0 && (c == ';' || c == ']')) break;
      depth += std::string_view{"<({"}.find(c) != std::string_view::npos;
      if (depth == 0) result += c;
      depth -= std::string_view{">)}"}.find(c) != std::string_view::npos;
    }
    return result;
  }
};

/// A statement and why it follows, or what it lacks.
struct Step {
  std::string object;              ///< In the book's notation: T_LM, X ↦ X×W_Q.
  std::string equation;            ///< What its symbol stands for: CA(X) = …; may be empty.
  std::string_view claim;          ///< "autoregressive"
  bool follows;                    ///< True if "object is claim" follows.
  std::string_view rule;           ///< The rule that concludes it, or would. Empty if declared, or none.
  std::string_view sentence;       ///< The rule's sentence.
  std::string_view declared;       ///< What a leaf declares; empty for anything else.
  std::string leaf;                ///< What C++ calls a leaf: tlm::Normalization; empty for anything else.
  std::vector<std::size_t> parts;  ///< The rule's premises, as places in the derivation.
};

/// The steps of a derivation, each once; the first is the statement that is derived.
using Derivation = std::vector<Step>;

/// Derives statements into a list, each once.
class Deriver {
 public:
  /// The place of "T is Claim" among the steps.
  template <class T, class Claim>
  std::size_t derive() {
    const auto [known, is_new] = places_.try_emplace(&id<T, Claim>, steps_.size());
    const std::size_t place = known->second;
    if (!is_new) return place;
    steps_.push_back({notation<T>().text, equation<T>(), Claim::text, rules::follows<T, Claim>, "", "", "", "", {}});
    if constexpr (rules::Leaf<T>) {
      steps_[place].declared = T::declared::text;
      steps_[place].leaf = NameOf<T>::text();
    }
    by_which<T, Claim>([&]<Symbol name, Symbol sentence, class... Part, class... Premise>(
        rules::Rule<name, sentence, Claim, rules::Is<Part, Premise>...> rule) {
      steps_[place].rule = rule.name;
      steps_[place].sentence = rule.sentence;
      steps_[place].parts = {derive<Part, Premise>()...};
    });
    return place;
  }

  /// action(rule) with the rule by which "T is Claim" follows, or that of T's form which lacks the fewest premises: the
  /// first of several. With none if T declares it, or no rule concludes it.
  template <class T, class Claim>
  static void by_which(const auto& action) {
    const auto first_of_fewest = [&]<class... Rule>(rules::List<Rule...>) {
      constexpr std::size_t fewest = std::min({none, lacking<Claim>(Rule{})...});
      [[maybe_unused]] const auto look_at = [&]<class R>(R rule) {
        constexpr bool chosen = fewest != none && lacking<Claim>(R{}) == fewest;
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

  Derivation steps() && { return std::move(steps_); }

 private:
  template <class T, class Claim>
  static constexpr char id = 0;

  /// How many premises a rule lacks, or `none` if it concludes something else.
  template <class Claim, Symbol name, Symbol sentence, class Conclusion, class... T, class... Premise>
  static constexpr std::size_t lacking(rules::Rule<name, sentence, Conclusion, rules::Is<T, Premise>...>) {
    if (!std::is_same_v<Conclusion, Claim>) return none;
    return (std::size_t{0} + ... + std::size_t{!rules::follows<T, Premise>});
  }
  static constexpr std::size_t none = std::size_t(-1);

  Derivation steps_;
  std::map<const char*, std::size_t> places_;
};

/// The most that can be said of T: that it is rowwise, independent of X, a causal kernel, or autoregressive. If nothing
/// can be said, it is "autoregressive" too.
template <class T>
using Strongest =
    std::conditional_t<rowwise<T>, is::Rowwise,
                       std::conditional_t<constant<T>, is::Constant,
                                          std::conditional_t<causal_kernel<T>, is::CausalKernel, is::Autoregressive>>>;

/// How the compiler derives "T is Claim", or what T lacks. Without a Claim it is the most that can be said of T.
template <class T, class Claim = Strongest<T>>
Derivation derivation() {
  Deriver deriver;
  deriver.derive<T, Claim>();
  return std::move(deriver).steps();
}

/// A derivation line by line. Each line names an object in the book's notation, what it is, and by which rule. Its parts
/// follow, indented, down to the declarations of the leaves.
inline std::string written_out(const Derivation& derivation, std::size_t place = 0, std::size_t depth = 0) {
  const Step* step = &derivation[place];
  std::string line = std::string(2 * depth, ' ') + step->object + " is ";
  if (!step->follows) {
    line += "not known to be " + std::string(step->claim);
  } else if (step->rule == "rowwise_is_autoregressive") {  // said on the same line
    step = &derivation[step->parts[0]];
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
  for (const std::size_t part : step->parts) line += written_out(derivation, part, depth + 1);
  return line;
}

}  // namespace tlm
