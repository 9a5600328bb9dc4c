// SPDX-License-Identifier: MIT
// Where the sources are wrong, ill-typed or silent. For each place it prints what the source says, the smallest
// counter-example, as a rule computed now where it is a number, and what the library does: as text, or as JSON for the
// book's page.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <examples/finite_mask.hpp>
#include <examples/shared/command_line.hpp>
#include <proofs/controls.hpp>
#include <tlm/all.hpp>
#include <tlm/checking/check.hpp>
#include <tlm/text/byte_letters.hpp>

namespace {

using namespace tlm;
using checking::Dual;
using Lines = std::vector<std::string>;

/// A number with this many digits.
std::string shown(double number, int digits = 4) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "∞" : "−∞";
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, number);
  return text;
}

/// Numbers as in (1, 0.5).
std::string shown(const std::vector<double>& numbers, int digits = 4) {
  std::string text;
  for (const double number : numbers) text += (text.empty() ? "(" : ", ") + shown(number, digits);
  return text + ")";
}

/// Row i of a matrix, from 0.
template <class M>
std::vector<double> row(const M& X, std::size_t i) {
  std::vector<double> numbers;
  for (std::size_t j = 0; j < M::cols; ++j) numbers.push_back(double(X(i, j)));
  return numbers;
}

std::vector<double> softmax_of(std::vector<double> x) {
  softmax(detail::as_vector(x.data(), x.size()));
  return x;
}

/// The message of what a call throws.
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

using Table = std::vector<std::vector<double>>;

/// The maximum error of the best linear map that takes every row of P to the row k below it. From each column, moved up
/// by k rows, its part in the space of all columns is subtracted (Gram and Schmidt, twice). What is left is the error.
double residual(const Table& P, std::size_t k) {
  const std::size_t rows = P.size() - k, cols = P[0].size();
  const auto column = [&](std::size_t j, std::size_t from) {
    std::vector<double> v;
    for (std::size_t i = 0; i < rows; ++i) v.push_back(P[from + i][j]);
    return v;
  };
  const auto dot = [](const auto& u, const auto& v) {
    double sum = 0;
    for (std::size_t i = 0; i < u.size(); ++i) sum += u[i] * v[i];
    return sum;
  };
  Table basis;
  const auto reduce = [&](std::vector<double> v) {
    for (int twice = 0; twice < 2; ++twice)
      for (const auto& b : basis) {
        const double part = dot(b, v);
        for (std::size_t i = 0; i < rows; ++i) v[i] -= part * b[i];
      }
    return v;
  };
  for (std::size_t j = 0; j < cols; ++j) {
    auto v = column(j, 0);
    const double before = std::sqrt(dot(v, v));
    v = reduce(v);
    const double length = std::sqrt(dot(v, v));
    if (length < 1e-10 * before) continue;
    for (double& x : v) x /= length;
    basis.push_back(v);
  }
  double greatest = 0;
  for (std::size_t j = 0; j < cols; ++j)
    for (const double left : reduce(column(j, k))) greatest = std::max(greatest, std::abs(left));
  return greatest;
}

/// The article's sines (even columns) and cosines (odd ones) of positions 1, …, M in columns first, …, first + d − 1.
Table waves(std::size_t M, std::size_t d_model, std::size_t first, std::size_t d) {
  Table P(M);
  for (std::size_t pos = 1; pos <= M; ++pos)
    for (std::size_t column = first; column < first + d; ++column) {
      const double angle = double(pos) / std::pow(10000, 2.0 * double(column / 2) / double(d_model));
      P[pos - 1].push_back(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  return P;
}

/// An erratum: where it is, what is said there, what a run computes, and what the library does. Then the chapter that it
/// concerns, and the theorems of proofs/kernel, if any, that say what is right or refute what was said.
struct Erratum {
  std::string number, title, source, says;
  std::function<Lines()> computed;
  std::string here, chapter, theorems = "";
};

const std::string article = "The article", notebook = "The article's notebook", numpy_notebook = "The NumPy notebook",
                  formulated_source = "The Formulated Transformer", wolfram = "The Wolfram article";

/// A layer of random weights.
template <class T>
T drawn(std::uint64_t seed = 1) {
  Generator generator{seed};
  return checking::draw_layer<T>(generator);
}

/// The maximum difference of two matrices.
template <class M>
double difference(const M& X, const M& Y) {
  double greatest = 0;
  for (std::size_t e = 0; e < X.rows() * M::cols; ++e)
    greatest = std::max(greatest, std::abs(double(X.data()[e]) - double(Y.data()[e])));
  return greatest;
}

// --- What takes more than a line ---------------------------------------------------------------------------------------

Lines both_blocks() {
  const auto definition = drawn<DecoderBlock<2, 3, 1, double>>();
  InspirationalDecoderBlock<2, 3, 1, double> inspirational;
  part<FeedForward<2, 3, double>>(inspirational) = part<FeedForward<2, 3, double>>(definition);
  part<CausalAttention<2, 1, double>>(inspirational) = part<CausalAttention<2, 1, double>>(definition);
  part<Normalization<"N_ca", 2, double>>(inspirational) = part<Normalization<"N_ca", 2, double>>(definition);
  const Matrix<n, 2, double> X{1, -1};
  return {"the same random weights, X = (1, −1):", "  X + CA + FF gives " + shown(row(definition(X), 0)),
          "  X + FF gives " + shown(row(inspirational(X), 0))};
}

Lines one_head() {
  const auto single = drawn<SingleHeadCausalAttention<4, double>>();
  CausalAttention<4, 1, double> multi;
  weight<"W_Q">(multi) = weight<"W_Q">(single);
  weight<"W_K">(multi) = weight<"W_K">(single);
  weight<"W_V">(multi) = weight<"W_V">(single);
  for (std::size_t i = 0; i < 4; ++i) weight<"W_O">(multi)(i, i) = 1;
  Generator generator{2};
  const auto X = checking::draw_matrix<Matrix<n, 4, double>>(Sequences{3}, generator);
  return {"for 3 rows, d_model 4, W_O = I and B = 0 the two differ by " + shown(difference(single(X), multi(X)))};
}

Lines sliced_batch() {
  // Three sequences of n = 2 tokens: the scores of T(X) are 3 × 3 × 2, and [:n] keeps two sequences of three rows.
  Generator generator{1};
  std::vector<Matrix<n, 2, double>> Z;
  for (int j = 0; j < 3; ++j)
    Z.push_back(log_softmax(checking::draw_matrix<Matrix<n, 2, double>>(Sequences{3}, generator)));
  const int x[3][2] = {{0, 1}, {1, 1}, {1, 0}};
  double right = 0, clamped = 0;
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t i = 0; i < 2; ++i) {
      right -= Z[j](i, std::size_t(x[j][i])) / 6;
      clamped -=
          Z[std::min<std::size_t>(j, 1)](i, std::size_t(x[j][i])) / 6;  // an index too large is the last one in JAX
    }
  return {"3 sequences of n = 2 tokens: T(X)[:2] keeps 2 of the 3 sequences, and all 3 rows of each",
          "  the loss, by the formula " + shown(right) + ", as sliced, with indices clamped " + shown(clamped)};
}

Lines constant_row() {
  Normalization<"N", 2, double> N, gradient;
  N.a = Row<2, double>{1, 1};
  const auto at = N.value_and_pullback(Matrix<n, 2, double>{3, 3});
  const auto back = at.pullback(Matrix<n, 2, double>{1, 0}, gradient);
  constexpr double h = 1e-14;
  const auto moved = N(Matrix<n, 2, double>{h, 0});
  return {"at x = (3, 3), d = 2, the first row of the Jacobian should be (1 − ½, −½)/ε = (500000, −500000)",
          "  by the pullback " + shown(row(back, 0), 6),
          "  by a quotient " + shown(std::vector{moved(0, 0) / h, moved(0, 1) / h}, 6)};
}

Lines upside_down() {
  const auto failure = checking::compare_parts(checking::OperationOf<proofs::UpsideDownMask<double>>{""},
                                               checking::Claim::autoregressive, 1);
  const auto gradient = checking::transpose_fails<proofs::UpsideDownMask, checking::PrimeField>("", 21);
  return {failure
              ? "T(X|i) = T(X)|i fails at n = " + std::to_string(*failure->n) + ", i = " + std::to_string(*failure->i)
              : "T(X|i) = T(X)|i does not fail",
          gradient ? "its pullback is wrong"
                   : "and yet its pullback is the transpose of its derivative, exactly over the prime field"};
}

Lines derivative_of_scores() {
  // β = x xᵀ for x = (2; 3), differentiated with respect to x_1 by dual numbers.
  const Dual<double> x_1{2.0, 1.0}, x_2{3.0, 0.0};
  return {"β_kl = x_k x_l, x = (2; 3), by x_1:", "  ∂β_12 = " + shown((x_1 * x_2).tangent) + ", though l ≠ 1",
          "  ∂β_21 = " + shown((x_2 * x_1).tangent) + ", though k ≠ 1", "  ∂β_22 = " + shown((x_2 * x_2).tangent)};
}

Lines order_blind() {
  using Encoder =
      numpy::EncoderBlock<numpy::Config{.src_vocab_size = 3, .tgt_vocab_size = 3, .D = 2, .M = 1, .h = 1}, double>;
  const auto encoder = drawn<Encoder>();
  const auto Y = encoder(Matrix<n, 2, double>{1, 0, 0.5, 2}), swapped = encoder(Matrix<n, 2, double>{0.5, 2, 1, 0});
  double greatest = 0;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      if (const double error = std::abs(Y(i, j) - swapped(1 - i, j)); !(error <= greatest)) greatest = error;
  const Translations batch{Tokens{{1}, {1}}, Tokens{{1, 2, 2, 0}, {1, 2, 2, 0}}};
  using Model =
      numpy::Transformer<numpy::Config{.src_vocab_size = 3, .tgt_vocab_size = 3, .D = 2, .M = 1, .h = 1}, double>;
  const auto model = drawn<Model>();
  return {"without positional encoding the encoder of two rows and of the same swapped: maximum difference " +
              shown(greatest),
          "two targets of three tokens to say: per sequence the loss is " + shown(loss(model, batch, Sum{}) / 2) +
              ", per token " + shown(loss(model, batch))};
}

Lines two_residuals() {
  const std::vector<double> before{1, 0}, after{0, 1}, sublayer{0.5, 0.5};
  const auto normalized = [&](const std::vector<double>& x) {
    LayerNorm<"LayerNorm", 3, double> norm;
    norm.a = Row<3, double>{1, 1, 1};
    return row(norm(Matrix<n, 3, double>{x[0] + sublayer[0], x[1] + sublayer[1], 0}), 0);
  };
  return {"with Y_{l−1} = (1, 0, 0), Y'_l = (0, 1, 0), MultiHead = (½, ½, 0):",
          "  as printed " + shown(normalized(before)), "  with Y'_l   " + shown(normalized(after))};
}

Lines sampled() {
  Generator generator{1};
  const double scores[] = {std::log(0.6), std::log(0.4)};
  int second = 0;
  for (int i = 0; i < 1000; ++i) second += Sampled{generator}(scores, 2);
  const std::vector<std::size_t> sines_first{0, 2, 4, 1, 3, 5};
  Table P = waves(64, 6, 0, 6), catenated = P;
  for (std::size_t pos = 0; pos < P.size(); ++pos)
    for (std::size_t j = 0; j < 6; ++j) catenated[pos][j] = P[pos][sines_first[j]];
  return {"p = (0.6, 0.4): of 1000 draws " + std::to_string(second) + " are token 1; the maximum is token 0 every time",
          "ω of i = 1, d = 4: ℓ_max^(−2i/d) for ℓ_max = 512 is " + shown(std::pow(512, -0.5)) + ", 10000^(−2i/d) is " +
              shown(std::pow(10000, -0.5)),
          "sines before cosines, d = 6, M = 64: the best T_1 misses by " + shown(residual(catenated, 1), 2)};
}

Lines leaks() {
  using namespace finite_mask;
  const Learned structural = best_guess<Structural>(3), ten = best_guess<Finite<10>>(3),
                thousand = best_guess<Finite<1000>>(30);
  const auto line = [](const std::string& mask, const Learned& learned) {
    return "  " + mask + ": mean loss " + shown(learned.loss) + "; later tokens change a score of row 1 by up to " +
           shown(learned.leak, 2);
  };
  const auto hidden = softmax_of({0, 1e10 - 1e9});
  return {"to guess the next of tokens drawn at random, " + std::to_string(tokens) +
              " of them; without the future the least expected loss is log 4 = " + shown(std::log(4.0)) +
              "; the best of four runs:",
          line("not there (the library's mask)      ", structural),
          line("−10 added to the score              ", ten),
          line("−1000 added, greater initial weights", thousand),
          "−10⁹ added to a score of 10¹⁰, beside a visible one of 0: the softmax is " + shown(hidden),
          "0 × NaN = " + shown(0 * std::numeric_limits<double>::quiet_NaN())};
}

// --- The list ----------------------------------------------------------------------------------------------------------

std::vector<Erratum> errata() {
  return {
      {"1", "PE is not rowwise", article + ", “Positional Encoding”", "PE is a rowwise operation.",
       [] {
         PositionalEncoding<2, 2, double> PE;
         PE.PE = decltype(PE)::sinusoidal();
         const Matrix<n, 2, double> X{0, 0, 0, 0};
         return Lines{"X = 0, two rows: PE(X)_2 = " + shown(row(PE(X), 1)),
                      "  and of row 2 alone, PE(X_2) = " + shown(row(PE(Matrix<n, 2, double>{0, 0}), 0))};
       },
       "PE is declared autoregressive, which is all that T_LM needs. It is proved not to be rowwise.",
       "positional_encoding", "PE_is_not_rowwise, PositionalEncoding_is_autoregressive"},
      {"2", "What the Claim asks of A", article + ", Claim",
       "If A and B are autoregressive and A always returns lower triangular square matrices, X ↦ A(X)×B(X) is "
       "autoregressive.",
       [] {
         return Lines{"A(X) of 2 rows is 2×2: A(X|1) is 1×1, A(X)|1 is 1×2, and the two are never equal",
                      "lower triangular alone: A(X) = I/n, B(X) = X = (1; 1): row 1 of A(X|1)×X|1 is " + shown(1.0) +
                          ", of A(X)×X " + shown(1.0 / 2)};
       },
       "The hypothesis is that A(X) is lower triangular and A(X|i) is its leading block: a causal kernel.", "rowwise",
       "product_is_autoregressive"},
      {"3", "T_k of a number", article + ", “Positional Encoding”", "T_k(PE(pos, i)) = PE(pos+k, i) for every i.",
       [] {
         return Lines{"column 0, k = 1: a number t with t·sin 1 = sin 2 is " + shown(std::sin(2) / std::sin(1)) +
                      ", with t·sin 2 = sin 3 it is " + shown(std::sin(3) / std::sin(2))};
       },
       "T_k is a map of rows: PE_pos×T_k = PE_{pos+k}.", "positional_encoding", "linear_offset"},
      {"4", "Where the columns begin", article + ", “Positional Encoding”",
       "The columns are 1, …, d_model; its table and its notebook count from 0.",
       [] {
         return Lines{"d = 6, M = 64: the best T_1 misses some entry by " + shown(residual(waves(64, 6, 0, 6), 1), 2) +
                          " for columns from 0, by " + shown(residual(waves(64, 6, 1, 6), 1), 2) +
                          " for columns from 1",
                      "d = 5, M = 512: the best T_3 misses by " + shown(residual(waves(512, 5, 0, 5), 3), 2),
                      "d = 6, M = 3, as in the article's illustration: for columns from 1 it misses by " +
                          shown(residual(waves(3, 6, 1, 6), 1), 2)};
       },
       "Positions from 1, columns from 0, and d_model even, or it does not compile.", "positional_encoding",
       "literal_columns_have_no_linear_map, literal_columns_of_the_article_have_no_linear_map, "
       "a_sine_alone_has_no_linear_map"},
      {"5", "Two initial values of PE", article + " and its notebook",
       "The text begins with sines and cosines, the notebook with uniform numbers.",
       [] {
         Generator generator{1};
         Table uniform(64, std::vector<double>(6));
         for (auto& numbers : uniform)
           for (double& number : numbers) number = generator.uniform() - 0.5;
         return Lines{"M = 64, d = 6: the best T_1 of sines and cosines misses by " +
                      shown(residual(waves(64, 6, 0, 6), 1), 2) + ", that of uniform numbers by " +
                      shown(residual(uniform, 1), 2)};
       },
       "A difference, not an error. Both, by name: initialize_uniform, and PositionalEncoding::sinusoidal.",
       "training"},
      {"6", "The notebook's block is the other one", notebook + ", decoderBlock",
       "return X + FF comes first, so that return X + CA + FF, the definition, is never reached.", both_blocks,
       "Both, as types; the definition is the default.", "decoder_block",
       "decoder_block_written_out, inspirational_decoder_block_written_out"},
      {"7", "Two scales", article + ", “Causal Attention with one head”",
       "The single head divides by √d_model, each of several by √d_head. That looks like an error, and is none.",
       one_head, "A difference, not an error. One implementation, and a proof that it is the formula for h = 1.",
       "attention", "one_head_is_the_whole"},
      {"8", "A slice of the wrong axis", notebook + ", weighted_loss",
       "T(X)[:n,:] of an array batch × time × tokens cuts the batch.", sliced_batch,
       "A stack knows its sequences; rows of another cannot be scored against them.", "loss"},
      {"9", "exp without a maximum", notebook + ", softmax_L", "exp(A), its lower triangle, divided by the row's sum.",
       [] {
         const float great = std::exp(89.0f), small = std::exp(-104.0f);
         return Lines{
             "float: exp(89) = " + shown(great) + ", and the softmax of one score of 89 is " + shown(great / great),
             "float: exp(−104) = " + shown(small) + ", and of one score of −104 it is " + shown(small / small),
             "with the maximum subtracted both are " + shown(softmax_of({89})[0])};
       },
       "The maximum of the visible entries is subtracted; a hidden one, if large, would show.", "attention",
       "softmax_of_shifted"},
      {"10", "Less than 0, and 0", article + ", “Evaluation”", "y_k < 0, and the loss is > 0.",
       [] {
         const auto one = log_softmax(Matrix<n, 1, float>{7});
         const auto rounded = log_softmax(Matrix<n, 2, float>{100, 0});
         const auto refused = refusal([] {
           loss(drawn<TransformerLM<
                    Config{.vocab_size = 2, .d_model = 2, .d_ff = 2, .n_layers = 1, .n_heads = 1, .max_len = 2},
                    double>>(),
                Batch<double>{0, {{1}}, {{0}}});
         });
         return Lines{"a vocabulary of one token: y = " + shown(one(0, 0)),
                      "float scores (100, 0): y of token 0 is " + shown(std::abs(rounded(0, 0))),
                      "all ω = 0: the formula is 0/0, and here: “" + refused + "”"};
       },
       "≥ 0; weights that sum to 0 are refused.", "loss",
       "log_probabilities_are_nonpositive, log_probabilities_are_negative, loss_of_scores_is_nonnegative, "
       "loss_of_scores_is_positive"},
      {"11", "The standard deviation at a constant row", article + ", Claim, and its notebook",
       "The loss is differentiable almost everywhere, because everything but ReLu is; the notebook adds the square "
       "root.",
       constant_row,
       "The pullback leaves the term out at σ = 0, which is exact. ReLU is at 0 on a null set only, and the page of "
       "the loss says why.",
       "normalization", "Normalization_transposes"},
      {"12", "One token for three things", notebook + ", the data set", "Token 0 starts, separates and ends.",
       [] {
         const double scores[] = {1, 1, 1};
         return Lines{
             "equal scores: the maximum is token " + std::to_string(Greedy{}(scores, 3)) + ", the lowest, which ends",
             "max_len for sequences of up to 4 tokens: " + std::to_string(Reversal{4, 2, 4}.max_len()) +
                 " = 2·4 + 3, with the token that starts"};
       },
       "A difference, not an error. Which token starts and which ends are arguments; ties go to the lowest.",
       "training"},
      {"13", "The article is not Trax", article + " beside the code that it cites (from Trax's source)",
       "σ + ε. Trax has √(σ² + ε), biases in Q, K, V, positions from 0, dropout, other initial values, and clips bad "
       "tokens.",
       [] {
         const double sigma = 1e-3, epsilon = 1e-6;
         return Lines{"σ = 10⁻³, ε = 10⁻⁶: σ + ε = " + shown(sigma + epsilon) +
                          ", √(σ² + ε) = " + shown(std::sqrt(sigma * sigma + epsilon)),
                      "a bad token, here: “" + refusal([] {
                        detail::look_up(Matrix<std::size_t{2}, 1, double>{}, Tokens{0, 5});
                      }) + "”"};
       },
       "A difference, not an error. As in the article; LayerNorm has the other divisor. A bad token is refused.",
       "normalization"},
      {"13a", "softmax(◺A) is not rowwise", article + ", “Rowwise and autoregressive matrix operations”",
       "The rowwise operation softmax(◺A) always returns a lower triangular matrix.",
       [] {
         return Lines{"A = (0 0; 0 0): row 2 of softmax(◺A) is " + shown(softmax_of({0, 0})) +
                      ", of row 2 alone (its first entry is left) " + shown(softmax_of({0})) + " and 0"};
       },
       "It is lower triangular, and each of its rows sums to 1: both are proved. It is not rowwise.", "rowwise",
       "softmax_of_triangle_is_not_rowwise, softmax_of_triangle_is_lower_triangular, rows_of_softmax_of_triangle"},
      {"14", "A sign in an exponent", numpy_notebook + ", “Masked decoding”",
       "Masked scores are −1e-20; its code adds −1e20.",
       [] {
         return Lines{
             "a visible score of 0 and a hidden one of 0: with −10⁻²⁰ added " + shown(softmax_of({0, -1e-20})) +
                 ", with −10²⁰ " + shown(softmax_of({0, -1e20})),
             "a row that is masked as a whole: " + shown(softmax_of({-1e20, 1 - 1e20})) + ", whatever its scores were"};
       },
       "What is masked is not there; a row that sees nothing is refused.", "attention",
       "softmax_of_hidden, attention_to_what_is_visible"},
      {"15", "A mask upside down", numpy_notebook + "'s class (from its source)",
       "np.tri(T) is stored where its layers read True as masked: row i sees the future only, and the last row "
       "everything.",
       upside_down,
       "The best control for a check of causality: it must fail, and does; a gradient check cannot see it.",
       "encoder_decoders"},
      {"16", "Letters of cross-attention", numpy_notebook + ", “Cross-attention” and the derivation",
       "keys = yQ; ∂β_kl/∂x_ij = 0 for k ≠ i or l ≠ i; the factor 1/√M is not carried along.",
       [] {
         Lines lines = derivative_of_scores();
         lines.push_back("y = 1, Q = 2, K = 3: yQ = " + shown(1.0 * 2) + ", yK = " + shown(1.0 * 3));
         return lines;
       },
       "keys = yK; “and” for “or”; the scale is in the pullback.", "encoder_decoders", "softmax_kernel_transposes"},
      {"17", "The class is not the text", numpy_notebook + "'s class (from its source)",
       "No positional encoding; cross-attention's K and V shared by all blocks; the loss divided by the batch size.",
       order_blind, "The text's model, with positions; the loss is the mean over the tokens that count.",
       "encoder_decoders", "unmasked_attention_is_equivariant"},
      {"18", "The residual of cross-attention", formulated_source + ", “Forward pass”",
       "Y''_l = LayerNorm(Y_{l−1} + MultiHead(Y'_l, X_N, X_N)).", two_residuals,
       "LayerNorm(Y'_l + …), as the decoder of the paper has it.", "encoder_decoders"},
      {"19", "Shapes", formulated_source + ", “Modules” and “Hyperparameters”",
       "OneHot maps to {0,1}^{n×d_model}; FFN is also called FFNet; columns of W_p are 2i and 2i+1 for i = 1, …, d/2.",
       [] {
         return Lines{"s = 3 tokens, d_model = 2: OneHot(x)×W_e needs " +
                          std::to_string(decltype(Embedding<3, 2>::W_e)::fixed_rows()) +
                          " columns in OneHot(x), and has 2 as printed",
                      "d_model = 4: the columns 2, 3, 4 and 5 are defined, 1 is not, and there is no 5"};
       },
       "OneHot is n×s; columns 2i − 1 and 2i, i = 1, …, d_model/2.", "embedding", "one_hot_times_W_e"},
      {"20", "What is counted", formulated_source + ", “Parameters”", "63,045,632 weights.",
       [] {
         using Model = formulated::Transformer<formulated::Config{.s = 37'000}>;
         const std::size_t count = parameter_count<Model>, each = 37'000 * 512;
         return Lines{"with one W_e in its three places: " + std::to_string(count),
                      "with three of them: " + std::to_string(count + 2 * each)};
       },
       "One W_e in three places, and W_p is constant: the count is a static_assert.", "encoder_decoders"},
      {"21", "A sum", formulated_source + ", “Forward pass”", "loss = Σ_{j=2}^m CrossEntropy(…), no mean.",
       [] {
         const auto model = drawn<formulated::Transformer<
             formulated::Config{.s = 3, .d_model = 2, .d_ff = 2, .d_k = 1, .d_v = 1, .h = 1, .N = 1, .max_len = 4},
             double>>();
         const Translations batch{Tokens{{1}}, Tokens{{0, 1, 2}}};
         return Lines{"m = 3: the sum is " + shown(loss(model, batch, Sum{})) + ", the mean " +
                      shown(loss(model, batch, Mean{}))};
       },
       "A difference, not an error. Sum and Mean are objectives, by name.", "loss"},
      {"22", "A mask of the past", wolfram + ", “Masked SelfAttention” and “Training Algorithm”",
       "Mask[t_z, t_x] = 0 when t_z < t_x; θ ← θ − θη·∇loss.",
       [] {
         return Lines{"query 2 of 3 tokens: it sees the keys t_z ≥ 2, so 2 and 3, and not 1: the past is hidden",
                      "θ = 0, η = 1, ∇loss = 1: as printed θ stays " + shown(0.0 - 0.0 * 1 * 1) +
                          ", by θ − η∇loss it becomes " + shown(0.0 - 1 * 1.0)};
       },
       "j ≤ i is seen; w ← w − η·∂L/∂w.", "attention", "softmax_kernel_is_causal"},
      {"23", "Another ε, another order", wolfram + ", selfAttentionBlock, crossAttentionBlock",
       "\"Epsilon\" -> 0.0001; cross-attention normalizes the memory and not the query; no normalization at the end; "
       "GELU.",
       [] {
         const double x = 0.01;
         return Lines{"the row (0.01, −0.01) becomes ±" + shown(x / std::sqrt(x * x + 1e-4)) +
                      " with ε = 10⁻⁴ under the root (the source does not say where), ±" +
                      shown(x / std::sqrt(x * x + 1e-5)) + " with 10⁻⁵"};
       },
       "All are kept, in tlm/models/wolfram_transformer.hpp; that 10⁻⁴ is under the root is assumed.",
       "encoder_decoders"},
      {"24", "Text and code", wolfram + ", “Inference” and “Embedding”",
       "The text samples from p^{1/τ}, the code takes the maximum; ℓ_max in the formula, 10000 in the code, which "
       "puts all sines first.",
       sampled, "Greedy and Sampled, by name. The layout with all sines first has a T_k, too.", "decoding"},
      {"25", "Columns and rows", wolfram + ", pseudo-code",
       "X ∈ ℝ^{d_x×ℓ_x}, W_q ∈ ℝ^{d_atten×d_x}, and Q ← 1ᵀb_q + X W_q.",
       [] {
         return Lines{"d_x = 3, ℓ_x = 2, d_atten = 4: X W_q is (3×2)(4×3), and 2 ≠ 4; in rows X×W_q is (2×3)(3×4)",
                      "bos and eos are both 50257: an answer begins with what ends it"};
       },
       "Rows everywhere; shapes are types, and such a product does not compile.", "encoder_decoders"},
      {"26", "Positions and bytes", wolfram + ", embedding, translate",
       "SequenceIndicesLayer[embedDim] bounds the position by the width; only “Ġ” is replaced when tokens are printed.",
       [] {
         return Lines{"width 128: positions 128 and 129 of a text are both position " +
                          std::to_string(std::min(129, 128)) + ", and decoding goes on to 512",
                      "“é” as letters of bytes is “" + letters_of("é") + "”, and so it would be printed"};
       },
       "max_len is a number of its own, and a longer sequence is refused; decode returns the bytes of tokens, not "
       "their letters.",
       "text"},
      {"27", "Any positions fit by dimension", article + ", “Positional Encoding” (and the remark of erratum 4)",
       "For M − k ≤ d_model there is a T_k by counting dimensions.",
       [] {
         Table P(4);
         const double omega = 1;
         for (std::size_t pos = 1; pos <= 4; ++pos)
           P[pos - 1] = {std::sin(double(pos) * omega), std::cos(double(pos) * omega),
                         std::sin(double(pos) * std::acos(0.0))};
         double combination = 0;
         for (std::size_t j = 0; j < 3; ++j)
           combination = std::max(combination, std::abs(P[0][j] - 2 * std::cos(omega) * P[1][j] + P[2][j]));
         return Lines{"columns sin pω, cos pω, sin(pπ/2), ω = 1, M = 4: PE_1 − 2cos ω·PE_2 + PE_3 = 0 within " +
                          shown(combination, 2),
                      "  and the best T_1 misses by " + shown(residual(P, 1), 2)};
       },
       "Linearly independent rows are asked for; the article's own illustration has them.", "positional_encoding",
       "as_many_rows_as_columns_are_not_enough"},
      {"28", "Slightly different otherwise", article + ", “not the same as average over rows”",
       "The two averages differ if the rows' weights have different sums.",
       [] {
         const auto average = [](double y, const std::vector<double>& omega) {
           double weighted = 0, sum = 0;
           for (const double w : omega) weighted += w * y, sum += w;
           return weighted / sum;
         };
         return Lines{"rows with ω = (1, 1) and (1, 0), and y = −1 everywhere: over all tokens " +
                      shown(average(-1, {1, 1, 1, 0})) + ", mean over rows " +
                      shown((average(-1, {1, 1}) + average(-1, {1, 0})) / 2)};
       },
       "If the sums differ, the averages may still be equal. If the sums are equal, so are the averages.", "loss",
       "loss_of_batch_is_not_the_mean_in_general, loss_of_batch_is_the_mean"},
      {"29", "Finite masks are learned around",
       "All sources that mask by a number: −10²⁰, the common −10⁹, a product with 0",
       "A great enough negative number, added to a score, hides it.", leaks,
       "A mask is a hole in the visible set, not a number: what is hidden is not there.", "break_the_mask",
       "softmax_of_hidden, attention_to_what_is_visible"},
  };
}

void print_text() {
  for (const Erratum& erratum : errata()) {
    std::cout << erratum.number << ". " << erratum.title << " — " << erratum.source << "\n  says: " << erratum.says
              << '\n';
    for (const std::string& line : erratum.computed()) std::cout << "    " << line << '\n';
    std::cout << "  here: " << erratum.here << "\n  chapter: docs/" << erratum.chapter << ".rst\n";
    std::cout << (erratum.theorems.empty() ? "" : "  proved: " + erratum.theorems + '\n') << '\n';
  }
}

void print_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Erratum& erratum : errata())
    list.push_back({{"number", erratum.number},
                    {"title", erratum.title},
                    {"source", erratum.source},
                    {"says", erratum.says},
                    {"computed", erratum.computed()},
                    {"here", erratum.here},
                    {"chapter", erratum.chapter},
                    {"theorems", erratum.theorems}});
  std::cout << list.dump(2) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line{
      "errata", "Where the sources are wrong, ill-typed or silent, with counter-examples as they are computed."};
  bool json = false;
  line.add_flag("--json", json, "The same as JSON");
  return line.run(argc, argv, [&] { json ? print_json() : print_text(); });
}
