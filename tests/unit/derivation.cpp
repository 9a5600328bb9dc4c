// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <string_view>

#include <proofs/kernel/export/file.hpp>
#include <proofs/kernel/export/words.hpp>
#include <tlm/algebra/concat.hpp>
#include <tlm/derivation/derivation.hpp>
#include <tlm/layers/gelu.hpp>
#include <tlm/models/formulated_transformer.hpp>
#include <tlm/models/numpy_transformer.hpp>
#include <tlm/models/transformer_lm.hpp>

#include "../printing.hpp"

namespace mine {
/// Not the library's ReLU.
template <std::size_t cols>
struct ReLU : tlm::ReLU<cols> {
  tlm::Matrix<tlm::n, cols> operator()(const tlm::Matrix<tlm::n, cols>& X) const { return X; }
};
}  // namespace mine

/// Derivations, as text, as data, and as proofs for a proof kernel.
namespace tlm::tests::in_derivation {

namespace {

constexpr formulated::Config toy{.s = 11, .d_model = 8, .d_ff = 16, .d_k = 4, .d_v = 4, .h = 2, .N = 3, .max_len = 7};

/// A leaf that looks at every row, and declares that. It has no symbol.
struct Everything {
  using declared = is::Unrestricted;
  using domain = Matrix<n, 8>;
  using codomain = domain;
  codomain operator()(domain X) const { return X; }
  auto value_and_pullback(domain X) const {
    return with_pullback(X, [](codomain Y_bar, Everything&) { return Y_bar; });
  }
  static constexpr void weights(auto&&, auto&) {}
};

/// A bias that is a function of positions, and one of which nothing is known.
struct ByPosition : NoBias {
  static constexpr std::string_view symbol = "b";
};
struct Whatever {
  using declared = is::Unrestricted;
  static constexpr std::string_view symbol = "b";
  static void add(std::size_t, std::size_t, auto) {}
  static void pull_back(std::size_t, std::size_t, const auto&, Whatever&) {}
  static constexpr void weights(auto&&, auto&) {}
};

template <class Q, class Bias = NoBias, std::size_t n_heads = 1>
using AttentionOf = Attention<n_heads, Causal, Q, Times<"W_K", 8, 8>, Times<"W_V", 8, 8>, Bias>;

/// The derivation of what T is, as text.
template <class T>
std::string proof_tree() {
  return written_out(derivation<T>());
}

}  // namespace

// --- As text -----------------------------------------------------------------------------------------------------------

TEST_CASE("a leaf is what it declares") {
  CHECK(proof_tree<ReLU<3>>() == "ReLU is rowwise: declared\n");
  CHECK(proof_tree<PositionalEncoding<3, 2>>() == "PE is autoregressive: declared\n");
  CHECK(proof_tree<Everything>() == "T is not known to be autoregressive: declared unrestricted\n");
}

TEST_CASE("several heads are concatenated, and each divides by the root of its own width: √4 for two of d_model 8") {
  // Line by line: the whole of a small T_LM.
  CHECK(proof_tree<CausalAttention<8, 2>>() ==
        Containing{"H_i(X) = softmax(◺((X×W_Q,i)×(X×W_K,i)ᵀ / √4))×(X×W_V,i); "});
  const std::string of_three = proof_tree<CausalAttention<9, 3>>();
  CHECK(of_three == Beginning{"CA is autoregressive: CA(X) = Concat(H_1(X), …, H_3(X))×W_O + B; compositions of"});
  CHECK(of_three == Containing{"H_i(X) = softmax(◺((X×W_Q,i)×(X×W_K,i)ᵀ / √3))×(X×W_V,i); "});
  // One head with d_head = d_model is not a concatenation.
  CHECK(proof_tree<CausalAttention<8, 1>>() ==
        Beginning{"CA is autoregressive: CA(X) = softmax(◺((X×W_Q)×(X×W_K)ᵀ / √8))×(X×W_V)×W_O + B; compositions of"});
}

TEST_CASE("cross-attention: the memory does not depend on X") {
  CHECK(
      proof_tree<formulated::NamedMultiHead<"MultiHead", toy, Unmasked, FromMemory, float>>() ==
      R"(MultiHead is autoregressive: MultiHead(X) = Concat(H_1(X), H_2(X))×W_O; compositions of autoregressive operations are autoregressive
  X ↦ X×W_O is rowwise, hence autoregressive: declared
  X ↦ Concat(H_1(X), H_2(X)) is autoregressive: Concat(F_1(X), …, F_k(X)) is autoregressive if each F_i is
    H_i is autoregressive: H_i(X) = softmax((X×W_Q,i)×(M×W_K,i)ᵀ / √4)×(M×W_V,i); A(X)×B is autoregressive if A is and B does not depend on X
      X ↦ softmax((X×W_Q,i)×(M×W_K,i)ᵀ / √4) is rowwise, hence autoregressive: softmax(Q(X)×Kᵀ/c) is rowwise if Q is and K does not depend on X
        the mask is full: declared
        X ↦ X×W_Q,i is rowwise: a block of columns of F(X) is rowwise if F is
          X ↦ X×W_Q is rowwise: declared
        X ↦ M×W_K,i is independent of X: a block of columns of F(X) is independent of X if F(X) is
          X ↦ M×W_K is independent of X: F(M) does not look at X
      X ↦ M×W_V,i is independent of X: a block of columns of F(X) is independent of X if F(X) is
        X ↦ M×W_V is independent of X: F(M) does not look at X
)");
}

TEST_CASE("the whole of a small T_LM") {
  CHECK(
      proof_tree<TransformerLM<Config{
          .vocab_size = 3, .d_model = 4, .d_ff = 8, .n_layers = 2, .n_heads = 2, .max_len = 5}>>() ==
      R"(T_LM is autoregressive: T_LM = Φ∘N∘DB_2∘DB_1∘PE∘Em; compositions of autoregressive operations are autoregressive
  Φ is rowwise, hence autoregressive: Φ(X) = X×Y + B; compositions of rowwise operations are rowwise
    X ↦ X + B is rowwise: declared
    X ↦ X×Y is rowwise: declared
  N is rowwise, hence autoregressive: declared
  DB_2∘DB_1 is autoregressive: compositions of autoregressive operations are autoregressive
    DB is autoregressive: DB = Res(FF)∘Res(CA∘N_ca); compositions of autoregressive operations are autoregressive
      Res(FF) is rowwise, hence autoregressive: X + F(X) is rowwise if F is
        FF is rowwise: FF(X) = ReLU(N_ff(X)×A + K)×B + L; compositions of rowwise operations are rowwise
          X ↦ X + L is rowwise: declared
          X ↦ X×B is rowwise: declared
          ReLU is rowwise: declared
          X ↦ X + K is rowwise: declared
          X ↦ X×A is rowwise: declared
          N_ff is rowwise: declared
      Res(CA∘N_ca) is autoregressive: X + F(X) is autoregressive if F is
        CA∘N_ca is autoregressive: compositions of autoregressive operations are autoregressive
          CA is autoregressive: CA(X) = Concat(H_1(X), H_2(X))×W_O + B; compositions of autoregressive operations are autoregressive
            X ↦ X + B is rowwise, hence autoregressive: declared
            X ↦ Concat(H_1(X), H_2(X))×W_O is autoregressive: compositions of autoregressive operations are autoregressive
              X ↦ X×W_O is rowwise, hence autoregressive: declared
              X ↦ Concat(H_1(X), H_2(X)) is autoregressive: Concat(F_1(X), …, F_k(X)) is autoregressive if each F_i is
                H_i is autoregressive: H_i(X) = softmax(◺((X×W_Q,i)×(X×W_K,i)ᵀ / √2))×(X×W_V,i); A(X)×B(X) is autoregressive if A is a causal kernel and B is autoregressive (Claim)
                  X ↦ softmax(◺((X×W_Q,i)×(X×W_K,i)ᵀ / √2)) is a causal kernel: softmax(◺(Q(X)×K(X)ᵀ/c)) is a causal kernel if Q and K are autoregressive
                    ◺ is lower triangular: declared
                    X ↦ X×W_Q,i is rowwise, hence autoregressive: a block of columns of F(X) is rowwise if F is
                      X ↦ X×W_Q is rowwise: declared
                    X ↦ X×W_K,i is rowwise, hence autoregressive: a block of columns of F(X) is rowwise if F is
                      X ↦ X×W_K is rowwise: declared
                  X ↦ X×W_V,i is rowwise, hence autoregressive: a block of columns of F(X) is rowwise if F is
                    X ↦ X×W_V is rowwise: declared
          N_ca is rowwise, hence autoregressive: declared
  PE is autoregressive: declared
  Em is rowwise, hence autoregressive: declared
)");
}

TEST_CASE("a stack of two, and of three") {
  CHECK(proof_tree<Stack<FeedForward<4, 8>, 2>>() ==
        Beginning{"FF_2∘FF_1 is rowwise: compositions of rowwise operations are rowwise\n  FF is rowwise: "});
  CHECK(proof_tree<Stack<FeedForward<4, 8>, 3>>() == Beginning{"FF_3∘…∘FF_1 is rowwise: "});
  CHECK(formula<Stack<FeedForward<4, 8>, 1>>("X").text == "FF_1(X)");
  CHECK(proof_tree<Stack<Times<"W", 4, 4>, 2>>() == Beginning{"(X ↦ X×W)_2∘(X ↦ X×W)_1 is rowwise: "});
}

TEST_CASE("an encoder-decoder: whatever the encoder is") {
  CHECK(
      proof_tree<EncoderDecoder<PositionalEncoding<7, 4>, PositionalEncoding<7, 4>>>() ==
      R"((x, X) ↦ PE(X) with M = PE(x) is autoregressive: autoregressive in X if the decoder is for every memory M, whatever the encoder is
  PE is autoregressive: declared
)");
  CHECK(proof_tree<
            EncoderDecoder<Composition<ReLU<4>, Times<"A", 4, 4>>, MultiHead<4, 1, 4, 4, Unmasked, FromMemory>>>() ==
        Beginning{"(x, X) ↦ softmax((X×W_Q)×(M×W_K)ᵀ / √4)×(M×W_V)×W_O with M = ReLU(x×A) is autoregressive: "});
  CHECK(proof_tree<EncoderDecoder<ReLU<8>, Everything>>() ==
        Beginning{
            "(x, X) ↦ T(X) with M = ReLU(x) is not known to be autoregressive: it lacks a premise of: autoregressive "
            "in X if the decoder is for every memory M, whatever the encoder is\n"});
}

TEST_CASE("sums stand in parentheses where they are factors, and only there") {
  CHECK(proof_tree<Composition<Times<"W", 4, 4>, Plus<"B", 4>>>() == Beginning{"X ↦ (X + B)×W is rowwise: "});
  CHECK(proof_tree<Composition<Plus<"L", 4>, Times<"W", 4, 4>, Plus<"B", 4>, Times<"V", 4, 4>>>() ==
        Beginning{"X ↦ (X×V + B)×W + L is rowwise: "});
  CHECK(proof_tree<Attention<1, Causal, Plus<"Q", 8>, Plus<"K", 8>, Plus<"V", 8>>>() ==
        Beginning{"X ↦ softmax(◺((X + Q)×(X + K)ᵀ / √8))×(X + V) is autoregressive: "});
  CHECK(proof_tree<Composition<ReLU<4>, Plus<"B", 4>>>() == Beginning{"X ↦ ReLU(X + B) is rowwise: "});
  CHECK(proof_tree<Composition<Plus<"B", 4>, Plus<"K", 4>>>() == Beginning{"X ↦ X + K + B is rowwise: "});
  CHECK(proof_tree<Composition<Stack<FeedForward<4, 8>, 2>, Plus<"B", 4>>>() ==
        Beginning{"X ↦ (FF_2∘FF_1)(X + B) is rowwise: "});
  CHECK(proof_tree<Res<Times<"W", 4, 4>>>() == Beginning{"Res(X ↦ X×W) is rowwise: X + F(X) is rowwise if F is\n"});
}

TEST_CASE("a kernel on its own, with and without a bias") {
  CHECK(proof_tree<forms::SoftmaxKernel<8, Causal, Times<"W_Q", 8, 8>, Times<"W_K", 8, 8>>>() ==
        Beginning{"X ↦ softmax(◺((X×W_Q)×(X×W_K)ᵀ / √8)) is a causal kernel: "});
  const std::string biased = proof_tree<AttentionOf<Times<"W_Q", 8, 8>, ByPosition, 2>>();
  CHECK(
      biased ==
      Containing{"X ↦ softmax(◺((X×W_Q,i)×(X×W_K,i)ᵀ / √4 + b)) is a causal kernel: softmax(◺(Q(X)×K(X)ᵀ/c + b)) is a "
                 "causal kernel if Q and K are autoregressive and b_ij is a function of i and j\n"});
  CHECK(biased == Containing{"        X ↦ X×W_K is rowwise: declared\n      b is a function of i and j: declared\n"});
}

TEST_CASE("what does not follow is not claimed, and what it lacks is said and nothing else") {
  // ◺ over a Q that looks at every row.
  CHECK(
      proof_tree<AttentionOf<Everything>>() ==
      R"(X ↦ softmax(◺(T(X)×(X×W_K)ᵀ / √8))×(X×W_V) is not known to be autoregressive: it lacks a premise of: A(X)×B(X) is autoregressive if A is a causal kernel and B is autoregressive (Claim)
  X ↦ softmax(◺(T(X)×(X×W_K)ᵀ / √8)) is not known to be a causal kernel: it lacks a premise of: softmax(◺(Q(X)×K(X)ᵀ/c)) is a causal kernel if Q and K are autoregressive
    ◺ is lower triangular: declared
    T is not known to be autoregressive: declared unrestricted
    X ↦ X×W_K is rowwise, hence autoregressive: declared
  X ↦ X×W_V is rowwise, hence autoregressive: declared
)");
  CHECK(proof_tree<AttentionOf<Everything, NoBias, 2>>() ==
        Containing{
            "      X ↦ columns_i(T(X)) is not known to be autoregressive: it lacks a premise of: a block of columns of "
            "F(X) is autoregressive if F is\n        T is not known to be autoregressive: declared unrestricted\n"});
  // No ◺.
  CHECK(proof_tree<LinearHeads<"W_Q", "W_K", "W_V", 8, 1, 8, 8, Unmasked, FromItself, float>>() ==
        Containing{"\n    the mask is not known to be lower triangular: declared full\n"});
  // A bias of which nothing is known.
  const std::string unknown = proof_tree<AttentionOf<Times<"W_Q", 8, 8>, Whatever>>();
  CHECK(unknown == Containing{"    X ↦ X×W_K is rowwise, hence autoregressive: declared\n"
                              "    b is not known to be a function of i and j: declared unrestricted\n"});
  CHECK(proof_tree<Res<FromMemory<Times<"W", 8, 8>>>>() ==
        R"(Res(X ↦ M×W) is not known to be autoregressive: it lacks a premise of: X + F(X) is autoregressive if F is
  X ↦ M×W is not known to be autoregressive: no rule says it of this form
)");
  CHECK(proof_tree<Composition<ReLU<8>, FromMemory<Times<"W", 8, 8>>>>() ==
        R"(X ↦ ReLU(M×W) is independent of X: G∘F is independent of X if F is
  X ↦ M×W is independent of X: F(M) does not look at X
)");
}

TEST_CASE("whole models begin with the formulas of their sources") {
  CHECK(proof_tree<TransformerLM<Config{.vocab_size = 11}>>() ==
        Beginning{"T_LM is autoregressive: T_LM = Φ∘N∘DB_6∘…∘DB_1∘PE∘Em; "});
  CHECK(proof_tree<TransformerLM<Config{.vocab_size = 11, .block = Block::inspirational}>>() ==
        Containing{"DB is autoregressive: DB = Res(FF∘Res(CA∘N_ca)); "});
  const std::string of_formulated = proof_tree<formulated::Transformer<toy>>();
  CHECK(of_formulated ==
        Beginning{
            "Transformer is autoregressive: Transformer = Softmax∘((x, X) ↦ (Decoder_3∘…∘Decoder_1)(OneHot(X)×W_e + "
            "W_p)×W_eᵀ with M = (Encoder_3∘…∘Encoder_1)(OneHot(x)×W_e + W_p)); "});
  CHECK(of_formulated ==
        Containing{"F with a weight that it reads in several places is autoregressive if F is\n    (x, X) ↦ "});
  CHECK(of_formulated == Containing{"\n        X ↦ X×W_eᵀ is rowwise, hence autoregressive: declared\n"});
  CHECK(of_formulated == Containing{"Decoder is autoregressive: Decoder = "
                                    "LayerNorm∘Res(FFN)∘LayerNorm''∘Res(MultiHead)∘LayerNorm'∘Res(MaskedMultiHead); "});
  CHECK(of_formulated == Containing{"\n        X ↦ X + W_p is autoregressive: declared\n        X ↦ OneHot(X)×W_e is "
                                    "rowwise, hence autoregressive: declared\n"});
  CHECK(proof_tree<numpy::Transformer<numpy::Config{.src_vocab_size = 5, .tgt_vocab_size = 5}>>() ==
        Beginning{
            "Transformer is autoregressive: Transformer = (x, X) ↦ tgt(X) with M = src(x); autoregressive in X if "});
}

// --- As data -----------------------------------------------------------------------------------------------------------

TEST_CASE("a derivation is a step, whose parts are derivations") {
  const Step step = derivation<SingleHeadCausalAttention<16>>();
  CHECK(step.object == "CA");
  CHECK(step.equation == "CA(X) = softmax(◺((X×W_Q)×(X×W_K)ᵀ / √16))×(X×W_V)");
  CHECK(step.claim == "autoregressive");
  CHECK(step.follows);
  CHECK(step.rule == "product_is_autoregressive");
  CHECK(step.sentence == "A(X)×B(X) is autoregressive if A is a causal kernel and B is autoregressive (Claim)");
  CHECK(step.declared.empty());
  REQUIRE(step.parts.size() == 2);

  const Step& kernel = step.parts[0];
  CHECK(kernel.claim == "a causal kernel");
  CHECK(kernel.rule == "softmax_kernel_is_causal");
  REQUIRE(kernel.parts.size() == 3);
  const Step& mask = kernel.parts[0];
  CHECK((mask.object == "◺" && mask.claim == "lower triangular" && mask.declared == "lower triangular"));
  CHECK((mask.rule.empty() && mask.parts.empty() && mask.equation.empty()));

  // Rowwise, hence autoregressive, is a step of its own.
  const Step& Q = kernel.parts[1];
  CHECK((Q.object == "X ↦ X×W_Q" && Q.claim == "autoregressive" && Q.rule == "rowwise_is_autoregressive"));
  REQUIRE(Q.parts.size() == 1);
  CHECK((Q.parts[0].claim == "rowwise" && Q.parts[0].declared == "rowwise"));
}

// --- For a proof kernel. ./tests/run kernel has it check whole models, and parts whose names are alike -------------------

namespace {

/// The definitions and theorems of T on one line, with single spaces.
template <class T>
std::string proof_term(const std::string& name) {
  std::istringstream words{coq::file<T>(name)};
  std::string text, word;
  while (words >> word) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

TEST_CASE("as a proof term: what does not follow is defined, and not claimed") {
  const std::string text = proof_term<AttentionOf<Everything>>("T");
  CHECK(text == Containing{"Definition T : operation memory (Row num 8) (Row num 8) := "});
  CHECK(text.find("Theorem") == std::string::npos);
  // And a rowwise operation is claimed to be rowwise.
  CHECK(proof_term<ReLU<3>>("T") == Containing{"Theorem T_is_rowwise : rowwise T. Proof. exact ReLU_is_rowwise. Qed."});
}

namespace {
template <Symbol text>
struct Named : Composition<Plus<"K", 3>, Softmax<3>> {
  static constexpr std::string_view symbol = text;
};
template <class F>
using Within = Composition<F, tlm::ReLU<3>>;
}  // namespace

TEST_CASE("as a proof term: what is no name in Coq is refused, and is in no comment") {
  // U/V.K and U.V.K would be one variable; and what ends a definition or a comment could go on with an axiom.
  CHECK_THROWS_WITH(proof_term<Within<Named<"U/V">>>("T"),
                    "'U/V' is no name in Coq: it must be of letters, digits, _ and '");
  CHECK_THROWS(proof_term<Within<Named<"U#">>>("T"));
  CHECK_THROWS(proof_term<Within<Named<"F := identity. Axiom bad : False. Definition G">>>("T"));
  CHECK_THROWS(proof_term<Within<Plus<"V/K", 3>>>("T"));
  CHECK(proof_term<Named<"F *) Axiom bad : False. (*">>("T").find("bad") == std::string::npos);
}

TEST_CASE("as a proof term: what is not the library's is not taken for it") {
  const std::string leaf = proof_term<Composition<tlm::ReLU<3>, mine::ReLU<3>>>("T");
  CHECK(leaf ==
        Containing{"Variable mine_ReLU : forall {memory : Type}, operation memory (Row num 3) (Row num 3). Hypothesis "
                   "mine_ReLU_is_rowwise : forall {memory : Type}, rowwise (@mine_ReLU memory)."});
  CHECK(leaf == Containing{":= ReLU ∘ mine_ReLU."});
  CHECK(coq::theorem_of(derivation<mine::ReLU<3>>()) == "");
  CHECK(coq::theorem_of(derivation<tlm::ReLU<3>>()) == "ReLU_is_rowwise");
  CHECK(coq::theorem_of(derivation<Entrywise<TimesTanh, 3>>()) == "");
  CHECK(coq::everything<tlm::ReLU<3>>().derivative);
  CHECK_FALSE(coq::everything<mine::ReLU<3>>().derivative);
}

TEST_CASE("as a proof term: the file says whether its definitions are held to the code") {
  CHECK(coq::file<tlm::ReLU<3>>("T").starts_with("(* Nothing checks that these definitions are what the C++ type"));
  CHECK(coq::file<tlm::ReLU<3>>("T", {.checked_by = "here"})
            .starts_with("(* That these definitions are what the C++ type computes is checked by numbers: here. *)"));
}

}  // namespace tlm::tests::in_derivation
