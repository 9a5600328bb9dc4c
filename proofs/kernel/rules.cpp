// SPDX-License-Identifier: MIT
// Each rule of tlm/algebra/rules.hpp as C++ states it, exported for operations of which nothing is known but its premises: so
// that a theorem of a rule's name says what the rule says, of rules, too, that no model of the library needs.
//
// And that the encoders of the library, without positions, are permutation equivariant.
//
//   rules FILE     writes the file, in which each rule is a section with its premises alone, and what all rest on

#include <cstddef>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include <proofs/kernel/export/file.hpp>
#include <tlm/algebra/tied.hpp>
#include <tlm/attention/mask_and_bias.hpp>
#include <tlm/models/formulated_transformer.hpp>
#include <tlm/models/numpy_transformer.hpp>
#include <tlm/models/wolfram_transformer.hpp>

using namespace tlm;

/// What a kernel returns: for each row as many numbers as it sees rows.
struct KernelOfRows {};
template <>
struct tlm::coq::RowType<KernelOfRows> {
  static std::string text() { return "(list num)"; }
};

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
struct A : Any<Claim, KernelOfRows> {};
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

using W = TiedWeight<"W", 1, 2>;

/// Rules, with a name for each. Returns their theorems.
template <class... Rule>
std::string write_rules(std::ostream& file) {
  std::size_t number = 0;
  const auto each = [&]<class T>() {
    static_assert(rules::follows<T, Strongest<T>>);
    const std::string name = "T_" + std::to_string(++number);
    file << coq::file<T>(name) << '\n';
    return "@" + name + "_is_" + coq::predicate(Strongest<T>::text) + ", ";
  };
  std::string theorems;
  ((theorems += each.template operator()<Rule>()), ...);
  return theorems;
}

/// That the encoder is permutation equivariant, without its embedding and positions. Returns the theorem.
template <class Encoder>
std::string write_encoder(std::ostream& file, const std::string& name) {
  file << "Module of_" << name << ".\n"
       << coq::file<Encoder>(name, {.equivariance = true,
                                    .checked_by = "proofs/kernel/numbers.cpp, as a part of its model in small shapes"})
       << "End of_" << name << ".\n\n";
  return "@of_" + name + "." + name + "_is_equivariant, ";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: rules FILE\n";
    return 2;
  }
  using is::Autoregressive, is::Constant, is::CausalKernel, is::Positional, is::Rowwise, is::Unrestricted;
  std::ofstream file{argv[1]};
  std::string theorems = write_rules<
      Made<forms::Composition<G<Rowwise>, F<Rowwise>>>,                         //
      Made<forms::Composition<G<Autoregressive>, F<Autoregressive>>>,           //
      Made<forms::Composition<G<Rowwise>, F<Autoregressive>, G<Rowwise>>>,      // and rowwise operations are
      Made<forms::Composition<G<Unrestricted>, F<Constant>>>,                   //
      Made<forms::Composition<G<Unrestricted>, G<Unrestricted>, F<Constant>>>,  //
      Made<forms::Composition<A<CausalKernel>, F<Autoregressive>>, KernelOfRows>,
      Made<forms::Composition<A<CausalKernel>, F<Autoregressive>, F<Autoregressive>>, KernelOfRows>,
      Made<forms::Stack<F<Autoregressive>, 3>>,                                 //
      Made<forms::Residual<F<Rowwise>>>,                                        //
      Made<forms::Residual<F<Autoregressive>>>,                                 //
      Made<forms::Concat<F<Rowwise>, G<Rowwise>>, Matrix<n, 4>>,                //
      Made<forms::Concat<F<Autoregressive>, G<Autoregressive>>, Matrix<n, 4>>,  //
      Made<forms::BlockOfColumns<F<Rowwise>>>,                                  //
      Made<forms::BlockOfColumns<F<Autoregressive>>>,                           //
      Made<forms::BlockOfColumns<F<Constant>>>,                                 //
      Made<forms::SoftmaxKernel<2, Causal, F<Autoregressive>, G<Autoregressive>>, KernelOfRows>,
      Made<forms::SoftmaxKernel<2, Unmasked, F<Rowwise>, G<Constant>>, KernelOfRows>,
      Made<forms::SoftmaxKernel<2, Unmasked, F<Autoregressive>, G<Constant>>, KernelOfRows>,
      Made<forms::SoftmaxKernel<2, Causal, F<Autoregressive>, G<Autoregressive>, b<Positional>>, KernelOfRows>,
      Made<forms::Product<A<CausalKernel>, F<Autoregressive>>>,                  //
      Made<forms::Product<A<Autoregressive>, F<Constant>>>,                      //
      MadeWithMemory<forms::OfMemory<F<Unrestricted>>>,                          //
      MadeWithMemory<forms::ThroughMemory<G<Unrestricted>, F<Autoregressive>>>,  //
      Made<forms::Tied<W, F<Rowwise>>>,                                          //
      Made<forms::Tied<W, F<Autoregressive>>>,                                   //
      MadeWithMemory<forms::EncoderDecoder<G<Unrestricted>, F<Autoregressive>>, SourceAndTarget<Rows, Rows>>>(file);
  constexpr formulated::Config small{.s = 11, .d_model = 8, .d_ff = 16, .d_k = 4, .d_v = 4, .h = 2, .N = 2};
  theorems += write_encoder<Stack<formulated::EncoderLayer<small, float>, 2>>(file, "formulated_encoder");
  theorems +=
      write_encoder<Stack<numpy::EncoderBlock<numpy::Config{.src_vocab_size = 11, .tgt_vocab_size = 11}, float>, 3>>(
          file, "numpy_encoder");
  theorems += write_encoder<
      Stack<wolfram::EncoderBlock<wolfram::Config{.src_vocab_size = 11, .tgt_vocab_size = 11}, float>, 6>>(
      file, "wolfram_encoder");
  // Asked once: each time Coq goes through all on which they rest.
  file << "Definition theorems := (" << theorems << "I).\nPrint Assumptions theorems.\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + std::string(argv[1]));
}
