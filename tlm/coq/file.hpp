// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <tlm/algebra/rules.hpp>
#include <tlm/coq/definitions.hpp>
#include <tlm/coq/layout.hpp>
#include <tlm/coq/place.hpp>
#include <tlm/coq/term.hpp>
#include <tlm/coq/theorems.hpp>
#include <tlm/coq/variables.hpp>
#include <tlm/derivation/derivation.hpp>

namespace tlm::coq {

/// What a file says of T beside its definition and those of its parts.
struct Contents {
  bool claim = true;       ///< that T is rowwise, or else independent of X, a causal kernel or autoregressive, if it is
  bool extension = false;  ///< T's state, from those of its parts, and that to extend it is to compute at once
  bool pullback = false;   ///< T's pullback, from those of its parts
  bool derivative = false;  ///< that this pullback is the transpose of the derivative, over the real numbers
};

/// Everything there is to say of a model. The theory has the states and the pullbacks of all parts of one that reads neither
/// a memory nor a source.
template <class T>
Contents everything() {
  const bool alone = memory_of<T>().empty() && source_of<T>().empty();
  return {.extension = alone, .pullback = alone, .derivative = alone};
}

/// Names for the large numbers of rows and columns in these types. (Coq counts in ones: 512 written out is a term of 512
/// symbols, wherever it stands.)
inline std::string names_of_sizes(const std::vector<Variable>& weights) {
  std::set<std::string> sizes;
  for (const Variable& weight : weights) {
    std::istringstream words{weight.type};
    for (std::string word; words >> word;)
      if (word.size() > 2 && word.find_first_not_of("0123456789") == std::string::npos) sizes.insert(word);
  }
  std::string text;
  for (const std::string& size : sizes)
    text += "Definition size_" + size + " : nat := " + size + ". Local Notation \"" + size + "\" := size_" + size +
            " : nat_scope.\n";
  return text;
}

/// A file that defines T for any numbers, under this name, and its parts; with these contents.
template <class T>
std::string file(const std::string& name, const Contents& contents = {}) {
  using Claim = Strongest<T>;
  const std::vector<Variable> weights = weights_of<T>();
  std::set<std::string> taken;
  for (const Variable& weight : weights) taken.insert(weight.name);
  std::vector<Companion> companions;
  if (contents.extension) companions.push_back({"extension", "extension"});
  if (contents.pullback) companions.push_back({"layer", "layer _"});
  Definitions definitions{taken, companions};
  if constexpr (follows<T, Claim>)
    if (contents.claim) Theorems{definitions}.prove<T, Claim>(Place{}, name);
  definitions.define<T>(Place{}, name);

  const std::string memory = memory_of<T>(), source = source_of<T>();
  std::string text = "From tlm Require Import Pullbacks.\n\n";
  if (!companions.empty()) text += names_of_sizes(weights);
  text += "Section " + name + "_and_its_parts.\n  Context {num : Type} {arithmetic : Arithmetic num}";
  text += memory.empty() ? " {memory : Type}.\n" : ".\n  Local Notation memory := " + memory + ".\n";
  if (!source.empty()) text += "\n  (* The source: any. *)\n  Variable x : list " + source + ".\n";
  text += "\n  (* The weights: any. *)\n";
  std::vector<std::string> arguments;
  for (const auto& [weight, type] : weights) {
    text += "  Variable " + weight + " : " + type + ".\n";
    arguments.push_back(weight);
  }
  text += definitions.text();
  if (contents.extension)
    text += "\n  (* Extending the state of " + name + " by pieces is computing at once. *)\n  Theorem " + name +
            "_is_extended M pieces : extended " + name + "_extension M pieces = " + name +
            " M (concat pieces).\n  Proof.\n    exact (extending_is_computing_at_once " + name +
            "_extension M pieces).\n  Qed.\n";
  text += "End " + name + "_and_its_parts.\n";
  if (contents.derivative)
    text +=
        "\n(* Over the real numbers the pullback is the transpose of the derivative. *)\n"
        "From tlm Require Import LeavesDerivative.\n" +
        wrapped({applied("Theorem " + name + "_pullback_is_transpose {memory : Type}", arguments).text + " :",
                 "  transposes (" + applied(name + "_layer (num := R) (memory := memory)", arguments).text + ")."}) +
        "Proof. transposes_by_parts. Qed.\n";
  return text;
}

}  // namespace tlm::coq
