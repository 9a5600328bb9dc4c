// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/algebra/rules.hpp>
#include <tlm/algebra/weights.hpp>
#include <tlm/claims/derivation.hpp>
#include <tlm/claims/notation.hpp>
#include <tlm/coq/layout.hpp>
#include <tlm/coq/place.hpp>
#include <tlm/coq/term.hpp>

/// What an operation is, as a definition in the language of Coq over the theory of proofs/kernel/.
///
/// Nothing is said here about any model or layer: a form, a leaf and a mask are called in the theory as they are in C++
/// (Composition, Normalization, Causal). Weights are variables, called by their paths; of a stack's layers functions of
/// the layer's number.
namespace tlm::coq {

/// action<F>(k) for each F, where k counts from 0; the last first, as it is applied first.
template <class F, class... Fs, class Action>
void backwards(const Action& action, std::size_t k = 0) {
  if constexpr (sizeof...(Fs) > 0) backwards<Fs...>(action, k + 1);
  action.template operator()<F>(k);
}

/// T has weights of its own, or reads some.
template <class T>
constexpr bool has_weights = weight_matrix_count<T> > 0 || requires {
  typename T::reads;
};

/// T is called by the name of its definition: it has a symbol, and is not the theory's word itself.
template <class T>
constexpr bool defined_by_name = [] {
  if constexpr (!HasSymbol<T>)
    return false;
  else if constexpr (Leaf<T>)
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
  /// Definitions in which these names mean something else.
  explicit Definitions(std::set<std::string> taken, std::vector<Companion> companions = {})
      : taken_(std::move(taken)), companions_(std::move(companions)) {}

  /// What was written.
  const std::string& text() const { return text_; }
  /// Writes more, behind it.
  void write(const std::string& text) { text_ += text; }

  /// T as a term.
  template <class T>
  Term term(const Place& place) {
    if constexpr (defined_by_name<T>)
      return applied(define<T>(place, std::string(symbol_of<T>())), place.arguments());
    else
      return body<T>(place);
  }

  /// The name of T's definition, which is written if it was not yet.
  template <class T>
  std::string define(const Place& place, const std::string& symbol) {
    const std::string key = place.key(symbol), name = name_for<T>(place, symbol);
    if (!defined_.insert(key).second) return name;
    const Place inner = place.inside<T>(key);
    const Term formula = body<T>(inner);
    const std::string in_words = equation<T>();
    write("\n" + (in_words.empty() ? "" : wrapped({"  (* " + in_words + " *)"})));
    std::string type = " : operation memory _ _";
    if constexpr (requires { typename T::domain; })
      type = " : operation memory " + RowType<typename T::domain>::text() + " " + RowType<typename T::codomain>::text();
    write(wrapped({"  Definition " + name + inner.parameters() + type + " :=", "    " + formula.text + "."}));
    for (const Companion& companion : companions_) {
      const std::string accompanying = name + "_" + companion.name;
      write(wrapped({"  Definition " + accompanying + inner.parameters() + " : " + companion.type + " " +
                         applied(name, inner.arguments()).as_argument() + " :=",
                     "    ltac:(" + companion.name + "_by_parts)."}));
      write("  #[local] Existing Instance " + accompanying + ".\n");
    }
    // So that what accompanies it is found by its name, and not by comparing what it is.
    if (!companions_.empty()) write("  #[local] Typeclasses Opaque " + name + ".\n");
    return name;
  }

  /// The symbol, if it means nothing else yet; otherwise with that of what it is in. (H_i is H of i.)
  template <class T>
  std::string name_for(const Place& place, std::string symbol) {
    const std::string key = place.key(symbol);
    if (const auto known = name_by_key_.find(key); known != name_by_key_.end()) return known->second;
    if (symbol.size() > 2 && symbol.ends_with("_i")) symbol.resize(symbol.size() - 2);
    const auto within = name_by_key_.find(place.within);
    const std::string outer = within == name_by_key_.end() ? "" : within->second + "_";
    std::string name = symbol;
    if (taken_.contains(name) || (Leaf<T> && name == template_name<T>()))
      name = outer.empty() ? name + "_" : outer + name;
    while (taken_.contains(name)) name += "'";
    taken_.insert(name);
    return name_by_key_[key] = name;
  }

 private:
  /// What T is, as a term.
  template <class T>
  Term body(const Place& place) {
    if constexpr (Formula<T>)
      return of_form(static_cast<typename T::form*>(nullptr), place);
    else
      return leaf<T>(place);
  }

  /// The theory's word for a leaf, its constants and its weights.
  template <class T>
  Term leaf(const Place& place) {
    std::vector<std::string> arguments;
    if constexpr (requires { T::formal_constants; })
      for (const auto constant : T::formal_constants) arguments.push_back(std::to_string(constant));
    const auto add = [&](const std::string& path, const std::vector<std::string>& layers) {
      return [&arguments, path, layers](const Name& name, auto&) {
        arguments.push_back(applied(path + std::string(name.letter), layers).as_argument());
      };
    };
    if constexpr (requires { typename T::reads; }) {
      using Entry = typename T::reads;
      if (const std::string* path = place.entry<Entry>()) visit_weights<Entry>(add(*path, {}), imaginary<Entry>);
    }
    visit_weights<T>(add(place.path, place.layers), imaginary<T>);
    return applied(std::string(template_name<T>()), arguments);
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
  template <class Entry, class F>
  Term of_form(forms::Tied<Entry, F>*, const Place& place) {
    return {Term::application, "Tied " + term<F>(place.tied<Entry>()).as_argument()};
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
    return folded(std::string(template_name<Form<F...>>()), parts);
  }

  std::string text_;
  std::set<std::string> taken_, defined_;
  std::vector<Companion> companions_;
  std::map<std::string, std::string> name_by_key_;
};

}  // namespace tlm::coq
