// SPDX-License-Identifier: MIT
// Each rule of tlm/algebra/rules.hpp as C++ states it, exported for operations of which nothing is known but its premises: so
// that a theorem of a rule's name says what the rule says, of rules, too, that no model of the library needs.
//
//   rules FILE     writes the file, in which each rule is a module

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include <tlm/algebra/tied.hpp>
#include <tlm/attention/kernel_matrices.hpp>
#include <tlm/attention/mask.hpp>
#include <tlm/coq/file.hpp>

using namespace tlm;

namespace {

using Rows = Matrix<n, 2>;

// Operations that are what they are said to be; in Coq, parameters of which an axiom says it.
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

constexpr const char* given = R"(From tlm Require Import Layers.

Parameter F G : forall {memory num : Type}, operation memory (Row num 2) (Row num 2).
Parameter A : forall {memory num : Type}, kernel memory (Row num 2) num.
Parameter b : forall {num : Type}, bias (Row num 2) num.
Axiom F_is_rowwise : forall memory num, rowwise (@F memory num).
Axiom G_is_rowwise : forall memory num, rowwise (@G memory num).
Axiom F_is_autoregressive : forall memory num, autoregressive (@F memory num).
Axiom G_is_autoregressive : forall memory num, autoregressive (@G memory num).
Axiom F_is_constant : forall memory num, constant (@F memory num).
Axiom G_is_constant : forall memory num, constant (@G memory num).
Axiom A_is_causal_kernel : forall memory num (arithmetic : Arithmetic num), causal_kernel (@A memory num).
Axiom A_is_autoregressive : forall memory num, autoregressive (@A memory num).
Axiom b_is_positional : forall num, positional (@b num).
Arguments F_is_rowwise {memory num}. Arguments G_is_rowwise {memory num}.
Arguments F_is_autoregressive {memory num}. Arguments G_is_autoregressive {memory num}.
Arguments F_is_constant {memory num}. Arguments G_is_constant {memory num}.
Arguments A_is_causal_kernel {memory num arithmetic}. Arguments A_is_autoregressive {memory num}.
Arguments b_is_positional {num}.

)";

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

using KernelOfRows = KernelMatrices<1, Causal, float>;
using W = TiedWeight<"W", 1, 2>;

template <class... T>
void write(const std::string& path) {
  std::ofstream file{path};
  file << given;
  std::size_t number = 0;
  const auto each = [&]<class Rule>() {
    static_assert(follows<Rule, Strongest<Rule>>);
    const std::string module = "Rule_" + std::to_string(++number);
    file << "Module " << module << ".\n" << coq::file<Rule>("T") << "End " << module << ".\n\n";
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
