// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <proofs/kernel/export/place.hpp>
#include <proofs/kernel/export/term.hpp>
#include <proofs/kernel/export/variables.hpp>
#include <proofs/kernel/export/words.hpp>
#include <tlm/algebra/parameters.hpp>
#include <tlm/algebra/parts.hpp>
#include <tlm/algebra/rules.hpp>
#include <tlm/derivation/derivation.hpp>
#include <tlm/derivation/notation.hpp>

/// What an operation is, as a definition in the language of Coq over the theory of proofs/kernel/.
///
/// Nothing is said here about any model or layer: a form, a leaf and a mask of the library are called in the theory as they are
/// in C++ (Composition, Normalization, Causal). A leaf of another namespace is a variable, of which is assumed what it declares.
/// Weights are variables, called by their paths; of a stack's layers functions of the layer's number.
namespace tlm::coq {

/// action<F>(k) for each F, where k counts from 0; the last first, as it is applied first.
template <class F, class... Fs, class Action>
void backwards(const Action& action, std::size_t k = 0) {
  if constexpr (sizeof...(Fs) > 0) backwards<Fs...>(action, k + 1);
  action.template operator()<F>(k);
}

/// T has weights of its own, or reads some.
template <class T>
constexpr bool has_weights = !tlm::detail::weight_list<T>.empty() || requires {
  typename T::reads;
};

/// T is called by the name of its definition: it has a symbol, and is not the theory's word itself.
template <class T>
constexpr bool defined_by_name = [] {
  if constexpr (!HasSymbol<T>)
    return false;
  else if constexpr (rules::Leaf<T>)
    return !std::is_same_v<typename T::declared, is::LowerTriangular> &&
           !std::is_same_v<typename T::declared, is::Full> && has_weights<T>;
  else
    return true;
}();

/// What the theory makes for an operation from what it made for its parts, by a tactic: an extension by extension_by_parts.
struct Companion {
  std::string name;  ///< what the tactic is called by: "extension"
  std::string type;  ///< its type, without the operation: "extension"
};

/// Writes definitions, each once, in an order in which they stand on earlier ones; and behind each what accompanies it.
class Definitions {
 public:
  /// Definitions about these weights, in which these names mean something else.
  Definitions(Weights weights, std::set<std::string> taken, std::vector<Companion> companions)
      : weights_(std::move(weights)), taken_(std::move(taken)), companions_(std::move(companions)) {}

  /// What they are about.
  const Weights& weights() const { return weights_; }
  /// What was written.
  const std::string& text() const { return text_; }
  /// Writes more, behind it.
  void write(const std::string& text) { text_ += text; }
  /// The leaves that are not the library's, as variables, with what they declare as hypotheses.
  const std::string& assumptions() const { return assumptions_; }
  /// The words of the theory that occur.
  const std::set<std::string>& words() const { return words_; }

  /// T as a term.
  template <class T>
  Term term(const Place& place) {
    if constexpr (defined_by_name<T>)
      return applied(define<T>(place, std::string(tlm::detail::symbol_of<T>())), place.arguments());
    else
      return body<T>(place);
  }

  /// The name of T's definition, which is written if it was not yet.
  template <class T>
  std::string define(const Place& place, const std::string& symbol) {
    const std::string name = name_for<T>(place, symbol);
    if (!defined_.insert(name).second) return name;
    const Place inner = place.inside<T>();
    const Term formula = body<T>(inner);
    std::string rows = "_ _";
    if constexpr (requires { typename T::domain; })
      rows = RowType<typename T::domain>::text() + " " + RowType<typename T::codomain>::text();
    write_definition(name, inner, rows, formula, equation<T>());
    return name;
  }

  /// The name of the definition of T, of which this is the symbol.
  template <class T>
  std::string name_for(const Place& place, const std::string& symbol) {
    return name_for(place.key(type_name<T>()), place.within, symbol);
  }

  /// What the leaf T is called.
  template <class T>
  std::string word() {
    const std::string name = qualified(Spelled<T>::text());
    return is_of_the_library(name) ? *words_.insert(unqualified(name)).first : assumed<T>();
  }

 private:
  /// What T is, as a term.
  template <class T>
  Term body(const Place& place) {
    if constexpr (rules::Formula<T>)
      return of_form(static_cast<typename T::form*>(nullptr), place);
    else
      return leaf<T>(place);
  }

  /// The word for a leaf, its constants and its weights.
  template <class T>
  Term leaf(const Place& place) {
    std::vector<std::string> arguments;
    if constexpr (requires { T::formal_constants; })
      for (const auto constant : T::formal_constants) arguments.push_back(std::to_string(constant));
    for_each_argument<T>([&](bool tied, const Name& name, auto&) {
      std::string path = place.path;
      std::vector<std::string> layers = place.layers;
      if constexpr (requires { typename T::reads; })
        if (tied) {
          const Place::Shared& shared = place.shared.at(type_name<typename T::reads>());
          path = shared.path;
          layers.resize(shared.layers);
        }
      arguments.push_back(applied(weights_.name(path + std::string(name.letter)), layers).as_argument());
    });
    return applied(word<T>(), arguments);
  }

  /// action(tied, name, weight) for each weight of which a leaf is a function: the tied ones that it reads, then its own.
  template <class T, class Action>
  static void for_each_argument(const Action& action) {
    if constexpr (requires { typename T::reads; })
      tlm::detail::visit_weights([&](const Name& name, auto& weight) { action(true, name, weight); },
                                 tlm::detail::imaginary<typename T::reads>);
    tlm::detail::visit_weights([&](const Name& name, auto& weight) { action(false, name, weight); },
                               tlm::detail::imaginary<T>);
  }

  /// The symbol, if it means nothing else yet; otherwise with that of what it is in. (H_i is H of i.)
  std::string name_for(const std::string& key, const std::string& within, std::string symbol) {
    const auto [known, is_new] = names_.try_emplace(key);
    if (!is_new) return known->second;
    if (symbol.size() > 2 && symbol.ends_with("_i")) symbol.resize(symbol.size() - 2);
    if (taken_.contains(symbol)) {
      const auto around = names_.find(within);
      symbol = around == names_.end() ? symbol + "_" : around->second + "_" + symbol;
    }
    return known->second = unused(symbol, taken_);
  }

  /// Writes that `name`, with the parameters of `inner`, is the formula; before it the equation as a comment, and behind it what
  /// accompanies it.
  void write_definition(const std::string& name, const Place& inner, const std::string& rows, const Term& formula,
                        const std::string& equation) {
    // (With * or " it could end its comment.)
    const bool is_a_comment = !equation.empty() && equation.find_first_of("*\"") == std::string::npos;
    write("\n" + (is_a_comment ? wrapped({"  (* " + equation + " *)"}) : ""));
    write(wrapped({"  Definition " + name + inner.parameters() + " : operation memory " + rows + " :=",
                   "    " + formula.text + "."}));
    for (const Companion& companion : companions_) {
      const std::string accompanying = name + "_" + companion.name;
      write(wrapped({"  Definition " + accompanying + inner.parameters() + " : " + companion.type + " " +
                         applied(name, inner.arguments()).as_argument() + " :=",
                     "    ltac:(" + companion.name + "_by_parts)."}));
      write("  #[local] Existing Instance " + accompanying + ".\n");
    }
    // So that what accompanies it is found by its name, and not by comparing what it is.
    if (!companions_.empty()) write("  #[local] Typeclasses Opaque " + name + ".\n");
  }

  /// The variable for a leaf that is not the library's; one for each type.
  template <class T>
  std::string assumed() {
    const auto [known, is_new] = assumed_.try_emplace(type_name<T>());
    if (!is_new) return known->second;
    using Claim = typename T::declared;
    std::vector<std::string> weights;
    for_each_argument<T>(
        [&](bool, const Name& letter, auto& weight) { weights.push_back(type_of_weight(letter, weight)); });
    std::string any, type;  // of what it is for any, and what it is
    if constexpr (std::is_same_v<Claim, is::LowerTriangular> || std::is_same_v<Claim, is::Full>) {
      type = "@mask num";
    } else if constexpr (std::is_same_v<Claim, is::Positional>) {
      any = "A";
      type = "bias A num";
    } else {
      std::string memory = memory_of<T>();
      if (memory.empty()) any = memory = "memory";
      type = "operation " + memory + " " + RowType<typename T::domain>::text() + " " +
             RowType<typename T::codomain>::text();
    }
    return known->second = assume(qualified(Spelled<T>::text()), weights, any, type,
                                  std::is_same_v<Claim, is::Unrestricted> ? "" : predicate(Claim::text));
  }

  /// Assumes a variable for the leaf that C++ calls `qualified`, a function of weights of these types; and that it is what it
  /// declares, unless that is empty. Returns its name.
  std::string assume(const std::string& qualified, const std::vector<std::string>& weights, const std::string& any,
                     std::string type, const std::string& declared) {
    std::string name;
    for (const char c : qualified)
      if (c != ':')
        name += c;
      else if (!name.empty() && name.back() != '_')
        name += '_';
    name = unused(name, taken_);
    std::string parameters = any.empty() ? "" : " {" + any + " : Type}", arguments = any.empty() ? "" : " " + any;
    for (std::size_t k = weights.size(); k-- > 0;) type = weights[k] + " -> " + type;
    if (!any.empty()) type = "forall" + parameters + ", " + type;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const std::string weight = "w" + std::to_string(k);
      parameters += " {" + weight + " : " + weights[k] + "}";
      arguments += " " + weight;
    }
    assumptions_ += wrapped({"  Variable " + name + " : " + type + "."});
    if (!declared.empty())
      assumptions_ += wrapped({"  Hypothesis " + name + "_is_" + declared + " :" +
                               (parameters.empty() ? " " : " forall" + parameters + ", ") + declared + " (@" + name +
                               arguments + ")."});
    return name;
  }

  template <class... F>
  Term of_form(forms::Composition<F...>*, const Place& place) {
    std::vector<std::string> factors(sizeof...(F));
    backwards<F...>([&]<class G>(std::size_t k) { factors[k] = term<G>(place).as_factor(); });
    return composed(factors);
  }
  template <class F, std::size_t count>
  Term of_form(forms::Stack<F, count>*, const Place& place) {
    std::vector<std::string> factors(count);
    for (std::size_t l = 1; l <= count; ++l) factors[count - l] = term<F>(place.layer<F>(l)).as_factor();
    return composed(factors);
  }
  template <class F, std::size_t count>
  Term of_form(forms::Heads<F, count>*, const Place& place) {
    std::vector<std::string> heads;
    for (std::size_t i = 1; i <= count; ++i) heads.push_back(term<F>(place.head(i, count)).as_argument());
    return folded("Concat", heads);
  }
  template <class F>
  Term of_form(forms::BlockOfColumns<F>*, const Place& place) {
    const std::size_t width = F::codomain::cols / place.n_heads;
    return {Term::application, "BlockOfColumns " + std::to_string(width) + " " +
                                   (place.heads.empty() ? "1" : place.heads.back()) + " " +
                                   term<F>(place).as_argument()};
  }
  template <std::size_t d_head, class Mask, class Q, class K, class... Bias>
  Term of_form(forms::SoftmaxKernel<d_head, Mask, Q, K, Bias...>*, const Place& place) {
    std::vector<std::string> arguments{std::to_string(d_head)};
    for (const Term& part : {term<Mask>(place), term<Q>(place), term<K>(place), term<Bias>(place)...})
      arguments.push_back(part.as_argument());
    return applied(sizeof...(Bias) > 0 ? "BiasedSoftmaxKernel" : "SoftmaxKernel", arguments);
  }
  template <class Item, class F>
  Term of_form(forms::Tied<Item, F>*, const Place& place) {
    return {Term::application, "Tied " + term<F>(place.tied<Item>()).as_argument()};
  }
  template <class Encoder, class Decoder>
  Term of_form(forms::EncoderDecoder<Encoder, Decoder>*, const Place& place) {
    const std::string encoder = term<Encoder>(place).as_argument();
    return {Term::application, "EncoderDecoder " + encoder + " " + term<Decoder>(place).as_argument() + " x"};
  }
  /// Any other form of some operations.
  template <template <class...> class Form, class... F>
  Term of_form(Form<F...>*, const Place& place) {
    std::vector<std::string> parts(sizeof...(F));
    backwards<F...>([&]<class G>(std::size_t k) { parts[k] = term<G>(place).as_argument(); });
    return folded(*words_.insert(unqualified(qualified(Spelled<Form<F...>>::text()))).first, parts);
  }

  Weights weights_;
  std::string text_, assumptions_;
  std::set<std::string> taken_, defined_, words_;
  std::vector<Companion> companions_;
  std::map<std::string, std::string> names_, assumed_;
};

}  // namespace tlm::coq
