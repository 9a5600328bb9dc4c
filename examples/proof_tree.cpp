// SPDX-License-Identifier: MIT
// How "T is autoregressive" is derived: by types, from named rules, down to what the leaves declare. As text, or as JSON.

#include <cstddef>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <examples/shared/command_line.hpp>
#include <proofs/kernel/export/file.hpp>
#include <proofs/kernel/export/words.hpp>
#include <tlm/derivation/derivation.hpp>
#include <tlm/models/formulated_transformer.hpp>
#include <tlm/models/numpy_transformer.hpp>
#include <tlm/models/transformer_lm.hpp>
#include <tlm/models/wolfram_transformer.hpp>

namespace {

using Small = tlm::TransformerLM<tlm::Config{.vocab_size = 11, .n_heads = 2}>;

/// What is printed about a model.
struct Model {
  tlm::Step (*derivation)();
  std::string (*proof_term)();
};

/// The definition and the proofs for any numbers, and the proof of the derivative for real numbers.
template <class T>
std::string proof_term() {
  const std::string name{tlm::detail::symbol_of<T>()};
  tlm::coq::Contents contents = tlm::coq::everything<T>();
  contents.checked_by = "proofs/kernel/numbers.cpp, for the same templates in small shapes";
  return "(* " + name + " and what is proved of it, from its C++ type; to be checked by Coq over proofs/kernel. *)\n" +
         tlm::coq::file<T>(name, contents);
}

template <class T>
constexpr Model model{tlm::derivation<T>, proof_term<T>};

/// The models, by the names that they have on the command line.
const std::map<std::string, Model> models{
    {"T_LM", model<tlm::TransformerLM<tlm::Config{.vocab_size = 11}>>},
    {"inspirational", model<tlm::TransformerLM<tlm::Config{.vocab_size = 11, .block = tlm::Block::inspirational}>>},
    {"two_heads", model<Small>},
    {"formulated", model<tlm::formulated::Transformer<tlm::formulated::Config{.s = 11}>>},
    {"numpy", model<tlm::numpy::Transformer<tlm::numpy::Config{.src_vocab_size = 11, .tgt_vocab_size = 11}>>},
    {"wolfram", model<tlm::wolfram::Transformer<tlm::wolfram::Config{.src_vocab_size = 11, .tgt_vocab_size = 11}>>},
};

/// The check that verifies what a leaf declares: a file of proofs/, and a test case in it.
std::string_view check_of(std::string_view declared) {
  if (declared == tlm::is::Rowwise::text)
    return "proofs/04_leaves.cpp: each layer of the list that is called rowwise is rowwise: over the four arithmetics "
           "(of tokens not over sets), n ≤ 6";
  if (declared == tlm::is::LowerTriangular::text)
    return "proofs/02_masked_softmax.cpp: softmax(◺A) is lower triangular: row i of softmax(◺A)×V depends on no row of "
           "V after i, for every A and V, over sets of positions, n ≤ 6";
  if (declared == tlm::is::Full::text)
    return "proofs/04_leaves.cpp: attention without a mask is not autoregressive in general: the first of two rows "
           "sees the second (random weights, over each of the four arithmetics)";
  return "proofs/04_leaves.cpp: each layer of the list that is called autoregressive is autoregressive: over the four "
         "arithmetics (of tokens not over sets), n ≤ 6 (no theorem for the bias, and for what appends t or indicators "
         "of t)";
}

/// A derivation as a list of statements, of which the first is derived. Equal ones are there once.
struct Statements {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::map<std::string, std::size_t> places{};  ///< By the whole text of a statement's derivation.

  explicit Statements(const tlm::Step& first) { add(first); }

  /// Adds a statement with its claim, its rule and its parts, which are places in the list. A leaf has what it declares,
  /// and the check that verifies it. Returns the statement's place.
  std::size_t add(const tlm::Step& step) {
    const auto [known, is_new] = places.try_emplace(tlm::written_out(step), list.size());
    if (!is_new) return known->second;
    list.emplace_back();
    nlohmann::ordered_json entry{{"statement", step.object + " is " + std::string(step.claim)},
                                 {"object", step.object},
                                 {"claim", step.claim},
                                 {"follows", step.follows}};
    if (!step.equation.empty()) entry["equation"] = step.equation;
    if (!step.rule.empty()) {
      entry["rule"] = step.rule;
      entry["sentence"] = step.sentence;
      entry["parts"] = nlohmann::ordered_json::array();
      for (const tlm::Step& part : step.parts) entry["parts"].push_back(add(part));
    } else if (!step.declared.empty()) {
      entry["declared"] = step.declared;
      entry["check"] = check_of(step.declared);
      if (const std::string theorem = tlm::coq::theorem_of(step); !theorem.empty()) entry["theorem"] = theorem;
    }
    list[known->second] = std::move(entry);
    return known->second;
  }
};

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line{"proof_tree", "How \"T is autoregressive\" is derived by types."};
  Model chosen = models.at("T_LM");
  bool json = false, kernel = false;
  line.add_choice("--model", chosen, models, "Of which model (T_LM)");
  line.add_flag("--json", json, "The steps as JSON: equal ones once, parts as places in the list");
  line.add_flag("--kernel", kernel, "A definition and a proof for the proof kernel Coq, over proofs/kernel");
  line.exclude("--kernel", {"--json"});
  return line.run(argc, argv, [&] {
    if (kernel)
      std::cout << chosen.proof_term();
    else if (json)
      std::cout << Statements{chosen.derivation()}.list.dump(2) << '\n';
    else
      std::cout << tlm::written_out(chosen.derivation());
  });
}
