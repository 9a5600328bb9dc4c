// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <proofs/kernel/export/definitions.hpp>
#include <proofs/kernel/export/place.hpp>
#include <proofs/kernel/export/term.hpp>
#include <proofs/kernel/export/words.hpp>
#include <tlm/algebra/rules.hpp>
#include <tlm/derivation/derivation.hpp>

/// That an operation is what it is derived to be, as a theorem that a proof kernel can check: the derivation of
/// tlm/derivation/derivation.hpp, by the same rules.
///
/// No rule is listed here: the proof that a leaf is what it declares is called Normalization_is_rowwise, and the theorem of a
/// rule as the rule (composition_is_rowwise). What is said is how the premises of a form stand in it, and that what is
/// rowwise is autoregressive.
namespace tlm::coq {

/// A rule of a composition whose premises differ: a theorem about two operations, which is not folded.
template <class Form, class Conclusion>
inline constexpr bool has_unlike_premises = false;
template <class... F, class Conclusion>
inline constexpr bool has_unlike_premises<forms::Composition<F...>, Conclusion> =
    std::is_same_v<Conclusion, is::Constant> || std::is_same_v<Conclusion, is::CausalKernel>;

/// Writes theorems among definitions, each once, behind those on which it stands.
class Theorems {
 public:
  /// Theorems of what is defined there.
  explicit Theorems(Definitions& definitions) : definitions_(definitions) {}

  /// The name of the theorem that T, of which this is the symbol, is Claim; it is written if it was not yet.
  template <class T, class Claim>
  std::string prove(const Place& place, const std::string& symbol) {
    const std::string name = definitions_.name_for<T>(place, symbol), property = predicate(Claim::text);
    if (!proved_.insert(name + "_is_" + property).second) return name + "_is_" + property;
    const Place inner = place.inside<T>();
    const Term proof = proof_of_body<T, Claim>(inner);
    definitions_.define<T>(place, symbol);
    return write_theorem(name, property, inner, proof);
  }

 private:
  /// Writes the theorem that `name`, with the parameters of `inner`, has this property, and its proof. Returns its name.
  std::string write_theorem(const std::string& name, const std::string& property, const Place& inner,
                            const Term& proof) {
    const std::string theorem = name + "_is_" + property;
    definitions_.write(wrapped({"  Theorem " + theorem + inner.parameters() + " : " + property + " " +
                                applied(name, inner.arguments()).as_argument() + "."}));
    definitions_.write(wrapped({"  Proof.", "    exact " + proof.as_argument() + ".", "  Qed."}));
    return theorem;
  }

  /// A proof that T is Claim, as a term.
  template <class T, class Claim>
  Term proof(const Place& place) {
    Term result{Term::atom, ""};
    if constexpr (std::is_same_v<Claim, is::Autoregressive> && rowwise<T>)
      result = {Term::application, "rowwise_is_autoregressive " + proof<T, is::Rowwise>(place).as_argument()};
    else if constexpr (defined_by_name<T>)
      result = applied(prove<T, Claim>(place, std::string(tlm::detail::symbol_of<T>())), place.arguments());
    else
      result = proof_of_body<T, Claim>(place);
    return result;
  }

  template <class T, class Claim>
  Term proof(rules::Is<T, Claim>, const Place& place) {
    return proof<T, Claim>(place);
  }

  /// The proof by the rule by which it follows, or by the theorem about a leaf.
  template <class T, class Claim>
  Term proof_of_body(const Place& place) {
    Term result{Term::atom, ""};
    if constexpr (rules::Leaf<T>)
      result.text = definitions_.word<T>() + "_is_" + predicate(Claim::text);
    else
      by_which<T, Claim>([&](auto rule) { result = by_rule(static_cast<typename T::form*>(nullptr), rule, place); });
    return result;
  }

  template <class Form, Symbol name, Symbol sentence, class Conclusion, class... T, class... Claim>
  requires(!has_unlike_premises<Form, Conclusion>) Term
      by_rule(Form*, rules::Rule<name, sentence, Conclusion, rules::Is<T, Claim>...>, const Place& place) {
    return folded_if<Form>(std::string(std::string_view(name)), premises(rules::List<rules::Is<T, Claim>...>{}, place));
  }
  template <class... Premise>
  std::vector<std::string> premises(rules::List<Premise...>, const Place& place) {
    std::vector<std::string> proofs(sizeof...(Premise));
    if constexpr (sizeof...(Premise) > 0)
      backwards<Premise...>([&]<class P>(std::size_t k) { proofs[k] = proof(P{}, place).as_argument(); });
    return proofs;
  }
  /// (G∘…)∘F is constant if F is: a theorem about G∘F, once for each factor that is applied later.
  template <class... F, Symbol name, Symbol sentence, class Last>
  Term by_rule(forms::Composition<F...>*, rules::Rule<name, sentence, is::Constant, rules::Is<Last, is::Constant>>,
               const Place& place) {
    Term result{Term::atom, proof<Last, is::Constant>(place).as_argument()};
    for (std::size_t later = 1; later < sizeof...(F); ++later)
      result = applied(std::string(std::string_view(name)), {result.as_argument()});
    return result;
  }
  /// A∘(F∘…) is a causal kernel if A is and F∘… is autoregressive.
  template <class... F, Symbol name, Symbol sentence, class A, class... Fs>
  Term by_rule(forms::Composition<F...>*,
               rules::Rule<name, sentence, is::CausalKernel, rules::Is<A, is::CausalKernel>,
                           rules::Is<Fs, is::Autoregressive>...>,
               const Place& place) {
    const std::string kernel = proof<A, is::CausalKernel>(place).as_argument();
    const auto of_F = premises(rules::List<rules::Is<Fs, is::Autoregressive>...>{}, place);
    if (of_F.empty()) return {Term::atom, kernel};
    return applied(std::string(std::string_view(name)),
                   {kernel, of_F.size() == 1 ? of_F[0] : folded("composition_is_autoregressive", of_F).as_argument()});
  }
  template <class F, std::size_t count, Symbol name, Symbol sentence, class Claim>
  Term by_rule(forms::Stack<F, count>*, rules::Rule<name, sentence, Claim, rules::Is<F, Claim>>, const Place& place) {
    std::vector<std::string> premises(count);
    for (std::size_t l = 1; l <= count; ++l) premises[count - l] = proof<F, Claim>(place.layer<F>(l)).as_argument();
    return count == 1 ? Term{Term::atom, premises[0]} : folded(std::string(std::string_view(name)), premises);
  }
  template <class F, std::size_t count, Symbol name, Symbol sentence, class Claim>
  Term by_rule(forms::Heads<F, count>*, rules::Rule<name, sentence, Claim, rules::Is<F, Claim>>, const Place& place) {
    std::vector<std::string> premises;
    for (std::size_t i = 1; i <= count; ++i) premises.push_back(proof<F, Claim>(place.head(i, count)).as_argument());
    return folded(std::string(std::string_view(name)), premises);
  }
  template <class Item, class F, Symbol name, Symbol sentence, class Claim>
  Term by_rule(forms::Tied<Item, F>*, rules::Rule<name, sentence, Claim, rules::Is<F, Claim>>, const Place& place) {
    return applied(std::string(std::string_view(name)), {proof<F, Claim>(place.tied<Item>()).as_argument()});
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
    return IsOfAsMany<Form>::value ? folded(f, arguments) : applied(f, arguments);
  }

  Definitions& definitions_;
  std::set<std::string> proved_;
};

}  // namespace tlm::coq
