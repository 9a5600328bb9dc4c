#include <doctest/doctest.h>

#include <tlm/models/formulated_transformer.hpp>
#include <tlm/models/proof_tree.hpp>
#include <tlm/models/transformer_lm.hpp>

using namespace tlm;

namespace {

constexpr formulated::Config toy{.s = 11, .d_model = 8, .d_ff = 16, .d_k = 4, .d_v = 4, .h = 2, .N = 3, .max_len = 7};

/// A leaf that looks at every row, and says so. It has no symbol.
struct Everything {
  using declared = is::Unrestricted;
  using domain = Matrix<n, 4>;
  using codomain = domain;
};

}  // namespace

TEST_CASE("the derivation of a rowwise operation: its formula, its rule, its leaves") {
  CHECK(proof_tree<FeedForward<4, 8>>() ==
        R"(FF is rowwise: FF(X) = ReLU(N_ff(X)×A + K)×B + L; compositions of rowwise operations are rowwise
  X ↦ X + L is rowwise: declared
  X ↦ X×B is rowwise: declared
  ReLU is rowwise: declared
  X ↦ X + K is rowwise: declared
  X ↦ X×A is rowwise: declared
  N_ff is rowwise: declared
)");
}

TEST_CASE("the derivation of the single-head CA by the article's Claim") {
  CHECK(
      proof_tree<SingleHeadCausalAttention<16>>() ==
      R"(CA is autoregressive: CA(X) = softmax(◺((X×W_Q)×(X×W_K)ᵀ / √16))×(X×W_V); A(X)×B(X) is autoregressive if A is a causal kernel and B is autoregressive (Claim)
  X ↦ softmax(◺((X×W_Q)×(X×W_K)ᵀ / √16)) is a causal kernel: ◺ leaves j ≤ i, and both factors are autoregressive
    X ↦ X×W_Q is rowwise: declared
    X ↦ X×W_K is rowwise: declared
  X ↦ X×W_V is rowwise: declared
)");
}

TEST_CASE("the derivation of cross-attention: the memory does not depend on X") {
  CHECK(
      proof_tree<formulated::CrossMultiHead<toy, float>>() ==
      R"(MultiHead is autoregressive: MultiHead(X) = softmax((X×W_Q)×(M×W_K)ᵀ / √4)×(M×W_V)×W_O; rowwise operations are autoregressive, and so are compositions of autoregressive ones
  X ↦ X×W_O is rowwise: declared
  X ↦ softmax((X×W_Q)×(M×W_K)ᵀ / √4)×(M×W_V) is autoregressive: A(X)×B is autoregressive if A is and B does not depend on X
    X ↦ softmax((X×W_Q)×(M×W_K)ᵀ / √4) is autoregressive: row i depends on row i of the first factor alone, which is autoregressive
      X ↦ X×W_Q is rowwise: declared
      X ↦ M×W_K is independent of X: declared
    X ↦ M×W_V is independent of X: declared
)");
}

TEST_CASE("whole models begin with the formulas of their sources") {
  const auto begins = [](const std::string& tree, const char* beginning) { return tree.rfind(beginning, 0) == 0; };
  CHECK(begins(proof_tree<TransformerLM<Config{.vocab_size = 11}>>(),
               "T_LM is autoregressive: T_LM = Φ∘N∘DB_6∘…∘DB_1∘PE∘Em; "));
  CHECK(begins(proof_tree<formulated::Transformer<toy>>(),
               "Transformer is autoregressive: Transformer = Softmax∘((x, X) ↦ (Decoder_3∘…∘Decoder_1)(OneHot(X)×W_e + "
               "W_p)×W_eᵀ with M = (Encoder_3∘…∘Encoder_1)(OneHot(x)×W_e + W_p)); "));
}

TEST_CASE("what does not follow is not claimed") {
  CHECK(proof_tree<Composition<Everything, Everything>>() ==
        R"(T∘T is not known to be autoregressive: a composition is autoregressive if all of its factors are
  T is not known to be autoregressive: declared
  T is not known to be autoregressive: declared
)");
  const std::string encoder = proof_tree<formulated::Encoder<toy, float>>();
  CHECK(encoder.find(
            "X ↦ softmax((X×W_Q)×(X×W_K)ᵀ / √4) is not known to be autoregressive: every row sees every other") !=
        std::string::npos);
}
