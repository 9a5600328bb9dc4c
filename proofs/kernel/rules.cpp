// SPDX-License-Identifier: MIT
// Each rule of tlm/algebra/rules.hpp as C++ states it, exported for operations of which nothing is known but its premises: so
// that a theorem of a rule's name says what the rule says, of rules, too, that no model of the library needs.
//
//   rules FILE     writes the file, in which each rule is a section with its premises alone, and what each rests on

#include <cstddef>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include <proofs/kernel/export/file.hpp>
#include <tlm/algebra/tied.hpp>
#include <tlm/attention/kernel_matrices.hpp>
#include <tlm/attention/mask.hpp>

using namespace tlm;

namespace {

using Rows = Matrix<n, 2>;

// Operations that are what they are said to be: no leaves of the library, hence variables with the hypothesis that says it.
template <class Claim, class Codomain = Rows>
struct Any {
  using declared = Claim;
  using domain = Rows;
  using codomain = Codomain;
};
template <class Claim>
struct F : Any<Claim> {};
template <class Claim>
struct G : Any<Claim> {};
template <class Claim>
struct A : Any<Claim, KernelMatrices<1, Causal, float>> {};
template <class Claim>
struct b : Any<Claim> {};

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
  std::size_t number = 0;
  const auto each = [&]<class Rule>() {
    static_assert(follows<Rule, Strongest<Rule>>);
    const std::string name = "T_" + std::to_string(++number);
    file << coq::file<Rule>(name) << "Print Assumptions " << name << "_is_" << predicate<Strongest<Rule>>() << ".\n\n";
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
