// SPDX-License-Identifier: MIT
// Each rule of tlm/algebra/rules.hpp as C++ states it, exported for operations of which nothing is known but its premises: so
// that a theorem of a rule's name says what the rule says, of rules, too, that no model of the library needs.
//
//   rules FILE     writes the file, in which each rule is a section with its premises alone, and what each rests on

#include <cstddef>
#include <fstream>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include <tlm/algebra/tied.hpp>
#include <tlm/attention/mask.hpp>
#include <tlm/coq/file.hpp>

using namespace tlm;

/// What a kernel returns: for each row as many numbers as it sees rows.
struct KernelOfRows {};
template <>
struct tlm::coq::RowType<KernelOfRows> {
  static std::string text() { return "(list num)"; }
};

namespace {

using Rows = Matrix<n, 2>;

// Operations that are what they are said to be; in Coq, variables with the hypothesis that says it.
template <class Claim>
struct Any {
  using declared = Claim;
  using domain = Rows;
  using codomain = Rows;
};
template <class Claim>
struct F : Any<Claim> {};
template <class Claim>
struct G : Any<Claim> {};
template <class Claim>
struct A : Any<Claim> {};
template <class Claim>
struct b : Any<Claim> {};

/// What F, G, A and b are in Coq.
template <class Part>
std::string type_of() {
  const std::string_view letter = template_name<Part>();
  if (letter == "A") return "forall {memory num : Type}, kernel memory (Row num 2) num";
  if (letter == "b") return "forall {num : Type}, bias (Row num 2) num";
  return "forall {memory num : Type}, operation memory (Row num 2) (Row num 2)";
}

/// An operation and what is known of it, each once.
class Premises {
 public:
  /// Those of F<Claim>; nothing, if it is a mask or a number.
  template <class Part>
  void add() {
    if constexpr (std::is_base_of_v<Any<typename Part::declared>, Part>) {
      const std::string letter{template_name<Part>()}, claim = predicate<typename Part::declared>();
      const std::string any = letter == "b" ? "num" : "memory num", name = letter + "_is_" + claim;
      if (seen_.insert(letter).second) text_ += "Variable " + letter + " : " + type_of<Part>() + ".\n";
      if (!std::is_same_v<typename Part::declared, is::Unrestricted> && seen_.insert(name).second)
        text_ +=
            "Hypothesis " + name + " : forall {" + any + " : Type}, " + claim + " (@" + letter + " " + any + ").\n";
    }
  }
  /// As Coq reads them.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::set<std::string> seen_;
};

template <template <class...> class Form, class... Part>
void add_parts(Form<Part...>*, Premises& premises) {
  (premises.add<Part>(), ...);
}
template <class Part, std::size_t count>
void add_parts(forms::Stack<Part, count>*, Premises& premises) {
  premises.add<Part>();
}
template <class Entry, class Part>
void add_parts(forms::Tied<Entry, Part>*, Premises& premises) {
  premises.add<Part>();
}
template <std::size_t d_head, class Mask, class... Part>
void add_parts(forms::SoftmaxKernel<d_head, Mask, Part...>*, Premises& premises) {
  (premises.add<Part>(), ...);
}

/// Made of these.
template <class Form, class Codomain = Rows, class Domain = Rows>
struct Made {
  using form = Form;
  using domain = Domain;
  using codomain = Codomain;
};
/// The same, of operations that read a memory.
template <class Form, class Domain = Rows>
struct MadeWithMemory : Made<Form, Rows, Domain> {
  using reads = Memory<Rows>;
};

using W = TiedWeight<"W", 1, 2>;

template <class... T>
void write(const std::string& path) {
  std::ofstream file{path};
  file << "From tlm Require Import Pullbacks.\n\n";
  std::size_t number = 0;
  const auto each = [&]<class Rule>() {
    static_assert(follows<Rule, Strongest<Rule>>);
    const std::string name = "T_" + std::to_string(++number), section = "Rule_" + std::to_string(number);
    Premises premises;
    add_parts(static_cast<typename Rule::form*>(nullptr), premises);
    file << "Section " << section << ".\n"
         << premises.text() << coq::file<Rule>(name) << "End " << section << ".\nPrint Assumptions " << name << "_is_"
         << predicate<Strongest<Rule>>() << ".\n\n";
  };
  (each.template operator()<T>(), ...);
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: rules FILE\n";
    return 2;
  }
  using is::Autoregressive, is::Constant, is::CausalKernel, is::Positional, is::Rowwise, is::Unrestricted;
  write<Made<forms::Composition<G<Rowwise>, F<Rowwise>>>,                         //
        Made<forms::Composition<G<Autoregressive>, F<Autoregressive>>>,           //
        Made<forms::Composition<G<Rowwise>, F<Autoregressive>, G<Rowwise>>>,      // and rowwise operations are
        Made<forms::Stack<F<Autoregressive>, 3>>,                                 //
        Made<forms::Residual<F<Rowwise>>>,                                        //
        Made<forms::Residual<F<Autoregressive>>>,                                 //
        Made<forms::Concat<F<Rowwise>, G<Rowwise>>, Matrix<n, 4>>,                //
        Made<forms::Concat<F<Autoregressive>, G<Autoregressive>>, Matrix<n, 4>>,  //
        Made<forms::BlockOfColumns<F<Rowwise>>>,                                  //
        Made<forms::BlockOfColumns<F<Autoregressive>>>,                           //
        Made<forms::BlockOfColumns<F<Constant>>>,                                 //
        Made<forms::SoftmaxKernel<2, Causal, F<Autoregressive>, G<Autoregressive>>, KernelOfRows>,
        Made<forms::SoftmaxKernel<2, Unmasked, F<Autoregressive>, G<Constant>>, KernelOfRows>,
        Made<forms::SoftmaxKernel<2, Causal, F<Autoregressive>, G<Autoregressive>, b<Positional>>, KernelOfRows>,
        Made<forms::Product<A<CausalKernel>, F<Autoregressive>>>,                  //
        Made<forms::Product<A<Autoregressive>, F<Constant>>>,                      //
        MadeWithMemory<forms::OfMemory<F<Unrestricted>>>,                          //
        MadeWithMemory<forms::ThroughMemory<G<Unrestricted>, F<Autoregressive>>>,  //
        Made<forms::Tied<W, F<Rowwise>>>,                                          //
        Made<forms::Tied<W, F<Autoregressive>>>,                                   //
        MadeWithMemory<forms::EncoderDecoder<G<Unrestricted>, F<Autoregressive>>, SourceAndTarget<Rows, Rows>>>(
      argv[1]);
}
