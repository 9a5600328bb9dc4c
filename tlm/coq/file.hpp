// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <vector>

#include <tlm/algebra/rules.hpp>
#include <tlm/claims/derivation.hpp>
#include <tlm/coq/definitions.hpp>
#include <tlm/coq/layout.hpp>
#include <tlm/coq/place.hpp>
#include <tlm/coq/term.hpp>
#include <tlm/coq/theorems.hpp>
#include <tlm/coq/variables.hpp>

namespace tlm::coq {

/// A file that defines T for any numbers, under this name, and its parts; and if it is to be `proved` with the theorem that
/// T is rowwise, or else independent of X, a causal kernel or autoregressive, if it is one of these, for numbers that obey
/// the laws of the theory and for real numbers.
template <class T>
std::string file(const std::string& name, bool proved = true) {
  using Claim = Strongest<T>;
  proved = proved && follows<T, Claim>;
  const std::vector<Variable> weights = weights_of<T>();
  std::set<std::string> taken;
  for (const Variable& weight : weights) taken.insert(weight.name);
  Definitions definitions{taken};
  if constexpr (follows<T, Claim>)
    if (proved) Theorems{definitions}.prove<T, Claim>(Place{}, name);
  definitions.define<T>(Place{}, name);

  const std::string memory = memory_of<T>(), source = source_of<T>();
  std::vector<std::string> arguments;
  std::string text = "From tlm Require Import Layers.\n\nSection " + name +
                     "_and_its_parts.\n  Context {num : Type} {arithmetic : Arithmetic num}";
  text += proved ? " {lawful : Lawful arithmetic}" : "";
  text += memory.empty() ? " {memory : Type}.\n" : ".\n  Local Notation memory := " + memory + ".\n";
  if (!source.empty()) {
    text += "\n  (* The source: any. *)\n  Variable x : list " + source + ".\n";
    arguments.push_back("x");
  }
  text += "\n  (* The weights: any. *)\n";
  for (const auto& [weight, type] : weights) {
    text += "  Variable " + weight + " : " + type + ".\n";
    arguments.push_back(weight);
  }
  text += definitions.text() + "End " + name + "_and_its_parts.\n";
  if (!proved) return text;

  const std::string claim = predicate<Claim>(), theorem = name + "_is_" + claim;
  const std::string any = memory.empty() ? "{memory : Type}" : "",
                    the_same = memory.empty() ? "(memory := memory)" : "";
  return text + "\n(* The same for real numbers. *)\nFrom tlm Require Import Reals.\n" +
         wrapped({applied("Theorem " + theorem + "_over_the_reals " + any, arguments).text + " :",
                  "  " + claim + " (" + applied(name + " (num := R) " + the_same, arguments).text + ")."}) +
         wrapped({"Proof.", "  exact " + applied(theorem, arguments).as_argument() + ".", "Qed."});
}

}  // namespace tlm::coq
