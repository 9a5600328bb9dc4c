// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <proofs/kernel/export/definitions.hpp>
#include <proofs/kernel/export/place.hpp>
#include <proofs/kernel/export/term.hpp>
#include <proofs/kernel/export/theorems.hpp>
#include <proofs/kernel/export/variables.hpp>
#include <tlm/algebra/rules.hpp>
#include <tlm/derivation/derivation.hpp>

namespace tlm::coq {

/// What a file says of T beside its definition and those of its parts.
struct Contents {
  bool claim = true;       ///< that T is rowwise, or else independent of X, a causal kernel or autoregressive, if it is
  bool extension = false;  ///< T's state, from those of its parts, and that to extend it is to compute at once
  bool pullback = false;   ///< T's pullback, from those of its parts
  bool derivative = false;    ///< that this pullback is the transpose of the derivative, over the real numbers
  bool equivariance = false;  ///< that T is permutation equivariant, for sums and maxima that see no order
  /// Where it is checked, by numbers, that these definitions are what the C++ type computes; if empty, it is not.
  std::string checked_by = {};
};

/// The words that the definitions use, and these; no definition is called by one of them.
inline std::set<std::string> words_in_use(const std::set<std::string>& others) {
  std::set<std::string> words{"BiasedSoftmaxKernel",
                              "BlockOfColumns",
                              "Concat",
                              "EncoderDecoder",
                              "Row",
                              "SoftmaxKernel",
                              "Tied",
                              "arithmetic",
                              "bias",
                              "i",
                              "l",
                              "mask",
                              "memory",
                              "num",
                              "operation",
                              "token",
                              "x"};
  words.insert(others.begin(), others.end());
  return words;
}

/// The definitions in a file about T, where these words mean something else.
template <class T>
Definitions definitions(const std::string& name, const Contents& contents, const std::set<std::string>& words) {
  using Claim = Strongest<T>;
  std::set<std::string> taken = words_in_use(words);
  const Weights weights = Weights::of<T>(taken);
  std::vector<Companion> companions;
  if (contents.extension) companions.push_back({"extension", "extension"});
  if (contents.pullback) companions.push_back({"layer", "layer _"});
  Definitions definitions{weights, taken, companions};
  if constexpr (rules::follows<T, Claim>)
    if (contents.claim) Theorems{definitions}.prove<T, Claim>(Place{}, name);
  definitions.define<T>(Place{}, name);
  return definitions;
}

/// Everything there is to say of a model. The theory has the states and the pullbacks of all parts of one that reads neither
/// a memory nor a source, and has no leaf of another namespace.
template <class T>
Contents everything() {
  const bool all =
      memory_of<T>().empty() && source_of<T>().empty() && definitions<T>("T", {}, {}).assumptions().empty();
  return {.extension = all, .pullback = all, .derivative = all};
}

/// Names for the large numbers of rows and columns in these types. (Coq counts in ones: 512 written out is a term of 512
/// symbols, wherever it stands.)
inline std::string names_of_sizes(const Weights& weights) {
  std::set<std::string> sizes;
  for (const Weights::Variable& weight : weights.variables) {
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

/// The file with these definitions of the operation called `name`. The rows of the memory and of the source that it reads have
/// these types, which are empty if it reads none.
inline std::string file_of(const Definitions& definitions, const std::string& name, const std::string& memory,
                           const std::string& source, const Contents& contents) {
  std::string text = contents.checked_by.empty()
                         ? "(* Nothing checks that these definitions are what the C++ type computes. *)\n"
                         : wrapped({"(* That these definitions are what the C++ type computes is checked by numbers: " +
                                    contents.checked_by + ". *)"});
  text += "From tlm Require Import Pullbacks" + std::string(contents.equivariance ? " Order" : "") + ".\n\n";
  if (contents.extension || contents.pullback || contents.equivariance) text += names_of_sizes(definitions.weights());
  text += "Section " + name + "_and_its_parts.\n  Context {num : Type} {arithmetic : Arithmetic num}";
  text += memory.empty() ? " {memory : Type}.\n" : ".\n  Local Notation memory := " + memory + ".\n";
  if (!source.empty()) text += "\n  (* The source: any. *)\n  Variable x : list " + source + ".\n";
  if (!definitions.weights().variables.empty()) text += "\n  (* The weights: any. *)\n";
  std::vector<std::string> arguments;
  for (const auto& [key, weight, type] : definitions.weights().variables) {
    text += "  Variable " + weight + " : " + type + ".\n";
    arguments.push_back(weight);
  }
  if (!definitions.assumptions().empty())
    text += "\n  (* Leaves without a definition here: any of which holds what they declare. *)\n" +
            definitions.assumptions();
  text += definitions.text();
  if (contents.extension)
    text += "\n  (* Extending the state of " + name + " by pieces is computing at once. *)\n  Theorem " + name +
            "_is_extended M pieces : extended " + name + "_extension M pieces = " + name +
            " M (concat pieces).\n  Proof.\n    exact (extending_is_computing_at_once " + name +
            "_extension M pieces).\n  Qed.\n";
  if (contents.equivariance)
    text += "\n  Context {symmetric : Symmetric arithmetic}.\n  Theorem " + name + "_is_equivariant : equivariant " +
            name + ".\n  Proof. equivariant_by_parts. Qed.\n";
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

/// A file that defines T for any numbers, under this name, and its parts; with these contents.
template <class T>
std::string file(const std::string& name, const Contents& contents = {}) {
  // Nothing is called by a word of the theory that occurs.
  const std::set<std::string> words = definitions<T>(name, {}, {}).words();
  return file_of(definitions<T>(name, contents, words), name, memory_of<T>(), source_of<T>(), contents);
}

}  // namespace tlm::coq
