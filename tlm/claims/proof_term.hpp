// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/memory.hpp>
#include <tlm/algebra/rules.hpp>
#include <tlm/algebra/weights.hpp>
#include <tlm/attention/kernel_matrices.hpp>
#include <tlm/claims/derivation.hpp>
#include <tlm/claims/notation.hpp>

/// What an operation is, as a definition and a proof that a proof kernel can check: the derivation of derivation.hpp, by the
/// same rules, in the language of Coq over the theory of proofs/kernel/.
///
/// Nothing is said here about any model, layer or rule: a form, a leaf and a mask are called in the theory as they are in
/// C++ (Composition, Normalization, Causal), the proof that a leaf is what it declares Normalization_is_rowwise, and the
/// theorem of a rule as the rule (composition_is_rowwise). Weights are variables, called by their paths; of a stack's layers
/// functions of the layer's number.
namespace tlm {

namespace proof_terms {

/// A term, and how it binds.
struct Term {
  enum Kind { composition, application, atom } kind;
  std::string text;

  std::string as_argument() const { return kind == atom ? text : "(" + text + ")"; }
  std::string as_factor() const { return kind == composition ? "(" + text + ")" : text; }
};

/// f applied to arguments.
inline Term applied(std::string f, const std::vector<std::string>& arguments) {
  const auto kind = arguments.empty() ? Term::atom : Term::application;
  for (const std::string& argument : arguments) f += " " + argument;
  return {kind, f};
}

/// The type of the rows of a matrix, or of a target.
template <class M>
struct RowType;
template <std::size_t cols, class Real>
struct RowType<Matrix<n, cols, Real>> {
  static std::string text() { return std::is_integral_v<Real> ? "token" : "(Row num " + std::to_string(cols) + ")"; }
};
template <class Source, class Target>
struct RowType<SourceAndTarget<Source, Target>> : RowType<Target> {};
template <std::size_t n_heads, class Mask, class Real, std::size_t block>
struct RowType<KernelMatrices<n_heads, Mask, Real, block>> {
  static std::string text() { return "(list num)"; }
};

/// The type of a weight.
inline std::string type_of_weight(const Name& name, std::size_t rows, std::size_t cols) {
  return (name.role == Role::matrix ? "Matrix num " + std::to_string(rows) : "Row num") + " " + std::to_string(cols);
}

/// action<F>(k) for each F, where k counts from 0; the last first, as it is applied first.
template <class F, class... Fs, class Action>
void backwards(const Action& action, std::size_t k = 0) {
  if constexpr (sizeof...(Fs) > 0) backwards<Fs...>(action, k + 1);
  action.template operator()<F>(k);
}

}  // namespace proof_terms

/// Writes definitions and theorems, each once, in an order in which they stand on earlier ones.
class ProofTerms {
 public:
  /// A file that defines T for any numbers, under this name, and its parts; and if it is to be `proved` with the theorem that
  /// T is rowwise, or else independent of X, a causal kernel or autoregressive, if it is one of these, for numbers that obey
  /// the laws of the theory and for real numbers.
  template <class T>
  std::string file(const std::string& name, bool proved = true) {
    const Place top;
    using Claim = Strongest<T>;
    proved = proved && follows<T, Claim>;
    declare_weights<T>();
    if constexpr (follows<T, Claim>)
      if (proved) prove_named<T, Claim>(top, name);
    define<T>(top, name);
    const std::string memory = memory_of<T>();
    std::string text = "From tlm Require Import Layers.\n\nSection " + name +
                       "_and_its_parts.\n  Context {num : Type} {arithmetic : Arithmetic num}";
    text += proved ? " {lawful : Lawful arithmetic}" : "";
    text += memory.empty() ? " {memory : Type}.\n" : ".\n  Local Notation memory := " + memory + ".\n";
    if constexpr (has_source<T>)
      text += "\n  (* The source: any. *)\n  Variable x : list " +
              source_of(static_cast<typename T::domain*>(nullptr)) + ".\n";
    text += "\n  (* The weights: any. *)\n" + weights_;
    text += text_ + "End " + name + "_and_its_parts.\n";
    if (!proved) return text;
    std::vector<std::string> arguments = names_;
    if constexpr (has_source<T>) arguments.insert(arguments.begin(), "x");
    const std::string claim = predicate<Claim>(), theorem = name + "_is_" + claim;
    const std::string any = memory.empty() ? "{memory : Type}" : "",
                      the_same = memory.empty() ? "(memory := memory)" : "";
    return text + "\n(* The same for real numbers. *)\nFrom tlm Require Import Reals.\n" +
           wrapped(
               {proof_terms::applied("Theorem " + theorem + "_over_the_reals " + any, arguments).text + " :",
                "  " + claim + " (" + proof_terms::applied(name + " (num := R) " + the_same, arguments).text + ")."}) +
           wrapped({"Proof.", "  exact " + proof_terms::applied(theorem, arguments).as_argument() + ".", "Qed."});
  }

 private:
  using Term = proof_terms::Term;

  /// Where an operation stands in the model.
  struct Place {
    std::string path;                 // what the paths of its weights begin with: "DB_FF_"
    std::string within;               // the definition that it is a part of, told from all others
    std::vector<std::string> layers;  // of the stacks that it is in
    std::vector<std::string> heads;   // of the heads that it is in
    std::size_t n_heads = 1;
    std::map<const void*, std::string> entries;  // the path of what a tied weight's readers read

    std::vector<std::string> arguments() const {
      std::vector<std::string> all = layers;
      all.insert(all.end(), heads.begin(), heads.end());
      return all;
    }
  };

  template <class T>
  static constexpr char id = 0;

  template <class T>
  static constexpr bool has_source = requires(typename T::domain X) {
    X.x;
    X.y;
  };
  template <class Source, class Target>
  static std::string source_of(SourceAndTarget<Source, Target>*) {
    return proof_terms::RowType<Source>::text();
  }

  /// T has weights of its own, or reads some.
  template <class T>
  static constexpr bool has_weights = matrix_count<T> > 0 || requires {
    typename T::reads;
  };

  /// T gets a definition of its own: it has a symbol, and is not the theory's word itself.
  template <class T>
  static constexpr bool is_named = [] {
    if constexpr (!HasSymbol<T>)
      return false;
    else if constexpr (Leaf<T>)
      return !std::is_same_v<typename T::declared, is::LowerTriangular> &&
             !std::is_same_v<typename T::declared, is::Full> && has_weights<T>;
    else
      return true;
  }();

  // --- Weights ---------------------------------------------------------------------------------------------------------

  /// The variables, in the order in which weights are visited: the path without the numbers of layers.
  template <class T>
  void declare_weights() {
    std::set<std::string> seen;
    visit_weights<T>(
        [&](const Name& name, auto& weight) {
          using Weight = std::remove_cvref_t<decltype(weight)>;
          std::string path, type;
          name.for_each_part([&](const PartName& part) {
            path += std::string(part.symbol) + "_";
            if (part.index > 0) type += "nat -> ";
          });
          path += name.letter;
          if (!seen.insert(path).second) return;
          names_.push_back(path);
          taken_.insert(path);
          weights_ += "  Variable " + path + " : " + type +
                      proof_terms::type_of_weight(name, Weight::size / Weight::cols, Weight::cols) + ".\n";
        },
        imaginary<T>);
  }

  /// The type of the rows of the memory that T, or else a part of it, reads; empty if there is none.
  template <class T>
  static std::string memory_of() {
    std::string memory;
    if constexpr (requires { typename T::reads; }) memory = rows_of_memory(static_cast<typename T::reads*>(nullptr));
    if constexpr (requires { T::parts([](std::size_t, auto&) {}, imaginary<T>); })
      T::parts(
          [&]<class Part>(std::size_t, Part&) {
            if (memory.empty()) memory = memory_of<Part>();
          },
          imaginary<T>);
    return memory;
  }
  template <class Rows>
  static std::string rows_of_memory(Memory<Rows>*) {
    return proof_terms::RowType<Rows>::text();
  }
  static std::string rows_of_memory(void*) { return {}; }

  // --- Terms -----------------------------------------------------------------------------------------------------------

  /// T as a term.
  template <class T>
  Term term(const Place& place) {
    if constexpr (is_named<T>)
      return proof_terms::applied(define<T>(place, std::string(symbol_of<T>())), place.arguments());
    else
      return body<T>(place);
  }

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
        arguments.push_back(proof_terms::applied(path + std::string(name.letter), layers).as_argument());
      };
    };
    if constexpr (requires { typename T::reads; }) {
      using Entry = typename T::reads;
      const auto entry = place.entries.find(&id<Entry>);
      if (entry != place.entries.end()) visit_weights<Entry>(add(entry->second, {}), imaginary<Entry>);
    }
    visit_weights<T>(add(place.path, place.layers), imaginary<T>);
    return proof_terms::applied(std::string(template_name<T>()), arguments);
  }

  template <class... F>
  Term of_form(forms::Composition<F...>*, const Place& place) {
    std::vector<std::string> factors(sizeof...(F));
    proof_terms::backwards<F...>([&]<class G>(std::size_t k) { factors[k] = term<G>(place).as_factor(); });
    return composition(factors);
  }
  template <class F, std::size_t count>
  Term of_form(forms::Stack<F, count>*, const Place& place) {
    std::vector<std::string> factors(count);
    for (std::size_t l = 1; l <= count; ++l) factors[count - l] = term<F>(layer<F>(place, l)).as_factor();
    return composition(factors);
  }
  template <class F, std::size_t count>
  Term of_form(forms::Heads<F, count>*, const Place& place) {
    std::vector<std::string> heads;
    for (std::size_t i = 1; i <= count; ++i) heads.push_back(term<F>(head(place, i, count)).as_argument());
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
    return proof_terms::applied(sizeof...(Bias) > 0 ? "BiasedSoftmaxKernel" : "SoftmaxKernel", arguments);
  }
  template <class Entry, class F>
  Term of_form(forms::Tied<Entry, F>*, const Place& place) {
    return {Term::application, "Tied " + term<F>(tied<Entry>(place)).as_argument()};
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
    proof_terms::backwards<F...>([&]<class G>(std::size_t k) { parts[k] = term<G>(place).as_argument(); });
    return folded(std::string(template_name<Form<F...>>()), parts);
  }

  static Term composition(const std::vector<std::string>& factors) {
    if (factors.size() == 1) return {Term::application, factors[0]};
    std::string text = factors[0];
    for (std::size_t k = 1; k < factors.size(); ++k) text += " ∘ " + factors[k];
    return {Term::composition, text};
  }

  /// f a b, f a (f b c), …: a function of two for as many as there are.
  static Term folded(const std::string& f, const std::vector<std::string>& arguments) {
    if (arguments.size() < 3) return proof_terms::applied(f, arguments);
    Term term{Term::atom, arguments.back()};
    for (std::size_t k = arguments.size() - 1; k-- > 0;)
      term = {Term::application, f + " " + arguments[k] + " " + term.as_argument()};
    return term;
  }

  // --- Places ----------------------------------------------------------------------------------------------------------

  template <class F>
  Place layer(Place place, std::size_t l) {
    if constexpr (!HasSymbol<F>) place.path += "T_";
    place.layers.push_back(std::to_string(l));
    return place;
  }
  static Place head(Place place, std::size_t i, std::size_t count) {
    place.heads.push_back(std::to_string(i));
    place.n_heads = count;
    return place;
  }
  template <class Entry>
  Place tied(Place place) {
    place.entries[&id<Entry>] = place.path;
    return place;
  }
  /// Within the definition of T, whose parameters stand for what it is applied to.
  template <class T>
  Place inside(Place place, const std::string& key) {
    // One head of several is no object: its weights are those of the layer that it is a part of.
    if constexpr (requires { typename T::domain; })
      if (!place.within.empty()) place.path += std::string(symbol_of<T>()) + "_";
    place.within = key;
    for (std::size_t k = 0; k < place.layers.size(); ++k) place.layers[k] = parameter("l", k);
    for (std::size_t k = 0; k < place.heads.size(); ++k) place.heads[k] = parameter("i", k);
    return place;
  }
  static std::string parameter(const std::string& letter, std::size_t k) {
    return k == 0 ? letter : letter + std::to_string(k + 1);
  }

  // --- Definitions and theorems ----------------------------------------------------------------------------------------

  /// The name of T's definition, which is written if it was not yet.
  template <class T>
  std::string define(const Place& place, const std::string& symbol) {
    const std::string key = place.within + "/" + symbol;
    const std::string name = name_for<T>(key, place, symbol);
    if (!defined_.insert(key).second) return name;
    const Place inner = inside<T>(place, key);
    const Term formula = body<T>(inner);
    const std::string in_words = equation<T>();
    write("\n" + (in_words.empty() ? "" : wrapped({"  (* " + in_words + " *)"})));
    std::string type = " : operation memory _ _";
    if constexpr (requires { typename T::domain; })
      type = " : operation memory " + proof_terms::RowType<typename T::domain>::text() + " " +
             proof_terms::RowType<typename T::codomain>::text();
    write(wrapped({"  Definition " + name + parameters(inner) + type + " :=", "    " + formula.text + "."}));
    return name;
  }

  /// The name of the proof that the named T is Claim, which is written if it was not yet.
  template <class T, class Claim>
  std::string prove_named(const Place& place, const std::string& symbol) {
    const std::string key = place.within + "/" + symbol;
    const std::string name = name_for<T>(key, place, symbol), theorem = name + "_is_" + predicate<Claim>();
    if (!proved_.insert(key + theorem).second) return theorem;
    const Place inner = inside<T>(place, key);
    const Term proof = proof_of_body<T, Claim>(inner);
    define<T>(place, symbol);
    write(wrapped({"  Theorem " + theorem + parameters(inner) + " : " + predicate<Claim>() + " " +
                   proof_terms::applied(name, inner.arguments()).as_argument() + "."}));
    write(wrapped({"  Proof.", "    exact " + proof.as_argument() + ".", "  Qed."}));
    return theorem;
  }

  /// A proof that T is Claim, as a term.
  template <class T, class Claim>
  Term proof(const Place& place) {
    Term result{Term::atom, ""};
    if constexpr (std::is_same_v<Claim, is::Autoregressive> && rowwise<T>)
      result = {Term::application, "rowwise_is_autoregressive " + proof<T, is::Rowwise>(place).as_argument()};
    else if constexpr (is_named<T>)
      result = proof_terms::applied(prove_named<T, Claim>(place, std::string(symbol_of<T>())), place.arguments());
    else
      result = proof_of_body<T, Claim>(place);
    return result;
  }

  /// The proof by the rule by which it follows, or by the theorem about a leaf.
  template <class T, class Claim>
  Term proof_of_body(const Place& place) {
    Term result{Term::atom, theorem_of<T, Claim>()};
    if constexpr (Formula<T>)
      Deriver::by_which<T, Claim>(
          [&]<class R>() { result = by_rule(static_cast<typename T::form*>(nullptr), R{}, place); });
    return result;
  }

  template <class Form, Symbol name, Symbol sentence, class Conclusion, class... T, class... Claim>
  Term by_rule(Form*, Rule<name, sentence, Conclusion, Is<T, Claim>...>, const Place& place) {
    return folded_if<Form>(std::string(std::string_view(name)), premises(List<Is<T, Claim>...>{}, place));
  }
  template <class... Premise>
  std::vector<std::string> premises(List<Premise...>, const Place& place) {
    std::vector<std::string> proofs(sizeof...(Premise));
    if constexpr (sizeof...(Premise) > 0)
      proof_terms::backwards<Premise...>(
          [&]<class P>(std::size_t k) { proofs[k] = proof<typename P::T, typename P::Claim>(place).as_argument(); });
    return proofs;
  }
  template <class F, std::size_t count, Symbol name, Symbol sentence, class Claim>
  Term by_rule(forms::Stack<F, count>*, Rule<name, sentence, Claim, Is<F, Claim>>, const Place& place) {
    std::vector<std::string> premises(count);
    for (std::size_t l = 1; l <= count; ++l) premises[count - l] = proof<F, Claim>(layer<F>(place, l)).as_argument();
    return count == 1 ? Term{Term::atom, premises[0]} : folded(std::string(std::string_view(name)), premises);
  }
  template <class F, std::size_t count, Symbol name, Symbol sentence, class Claim>
  Term by_rule(forms::Heads<F, count>*, Rule<name, sentence, Claim, Is<F, Claim>>, const Place& place) {
    std::vector<std::string> premises;
    for (std::size_t i = 1; i <= count; ++i) premises.push_back(proof<F, Claim>(head(place, i, count)).as_argument());
    return folded(std::string(std::string_view(name)), premises);
  }
  template <class Entry, class F, Symbol name, Symbol sentence, class Claim>
  Term by_rule(forms::Tied<Entry, F>*, Rule<name, sentence, Claim, Is<F, Claim>>, const Place& place) {
    return proof_terms::applied(std::string(std::string_view(name)),
                                {proof<F, Claim>(tied<Entry>(place)).as_argument()});
  }

  /// A rule of as many operations as there are, with a premise for each, is a theorem about two.
  template <class Form>
  struct IsOfAsMany : std::false_type {};
  template <class... F>
  struct IsOfAsMany<forms::Composition<F...>> : std::true_type {};
  template <class... F>
  struct IsOfAsMany<forms::Concat<F...>> : std::true_type {};
  template <class Form>
  static Term folded_if(const std::string& f, const std::vector<std::string>& arguments) {
    return IsOfAsMany<Form>::value ? folded(f, arguments) : proof_terms::applied(f, arguments);
  }

  // --- Text ------------------------------------------------------------------------------------------------------------

  /// The symbol, if it means nothing else yet; otherwise with that of what it is in. (H_i is H of i.)
  template <class T>
  std::string name_for(const std::string& key, const Place& place, std::string symbol) {
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

  static std::string parameters(const Place& place) {
    std::string names;
    for (const std::string& argument : place.arguments()) names += " " + argument;
    return names.empty() ? "" : " (" + names.substr(1) + " : nat)";
  }

  void write(const std::string& text) { text_ += text; }

  /// Side by side if that is a line of at most 120 characters, otherwise under each other, and broken at spaces.
  static std::string wrapped(const std::vector<std::string>& parts) {
    std::string line, lines;
    for (const std::string& part : parts) {
      line += line.empty() ? part : " " + part.substr(part.find_first_not_of(' '));
      lines += broken(part);
    }
    return length(line) <= 120 ? line + "\n" : lines;
  }
  static std::string broken(const std::string& text) {
    const std::size_t margin = text.find_first_not_of(' ');
    std::string result, line(margin, ' ');
    for (std::size_t begin = margin; begin < text.size();) {
      const std::size_t end = std::min(text.find(' ', begin + 1), text.size());
      const std::string word = text.substr(begin, end - begin);
      if (length(line + word) > 120) {
        result += line + "\n";
        line = std::string(margin + 1, ' ');
      }
      line += word;
      begin = end;
    }
    return result + line + "\n";
  }
  static std::size_t length(const std::string& text) {
    std::size_t characters = 0;
    for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return characters;
  }

  std::string weights_, text_;
  std::vector<std::string> names_;
  std::set<std::string> defined_, proved_, taken_;
  std::map<std::string, std::string> name_by_key_;
};

}  // namespace tlm
