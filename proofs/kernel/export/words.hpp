// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <tlm/algebra/rules.hpp>
#include <tlm/derivation/derivation.hpp>

/// What the theory of proofs/kernel calls what C++ has.
namespace tlm::coq {

/// The name of a type, given as Spelled has it, without arguments: "tlm::Normalization". In an unnamed namespace it is "::F".
inline std::string qualified(std::string_view spelled) {
  spelled.remove_prefix(spelled.find("T = ") + 4);
  std::string name;
  int depth = 0;
  for (const char c : spelled) {
    if (depth == 0 && (c == ';' || c == ']')) break;
    depth += std::string_view{"<({"}.find(c) != std::string_view::npos;
    if (depth == 0) name += c;
    depth -= std::string_view{">)}"}.find(c) != std::string_view::npos;
  }
  return name;
}

/// A name of C++ without its namespace: "Normalization" of "tlm::Normalization".
inline std::string unqualified(const std::string& name) { return name.substr(name.find_last_of(':') + 1); }

/// The layer of this name is the library's own. Only then does its name mean what it means in the theory. Entrywise is a
/// function of yours.
inline bool is_of_the_library(const std::string& name) {
  return name == "tlm::" + unqualified(name) && unqualified(name) != "Entrywise";
}

/// "is Claim" as a word: causal_kernel of "a causal kernel".
inline std::string predicate(std::string_view claim) {
  if (claim == is::CausalKernel::text) return "causal_kernel";
  if (claim == is::Constant::text) return "constant";
  if (claim == is::Positional::text) return "positional";
  std::string word{claim};
  std::replace(word.begin(), word.end(), ' ', '_');
  return word;
}

/// The theorem by which a leaf of the library is what it declares, such as Normalization_is_rowwise. Empty for any other step.
inline std::string theorem_of(const Step& step) {
  if (step.declared != step.claim) return "";
  const std::string leaf = qualified(step.spelled);
  return is_of_the_library(leaf) ? unqualified(leaf) + "_is_" + predicate(step.claim) : "";
}

}  // namespace tlm::coq
