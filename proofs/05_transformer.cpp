// SPDX-License-Identifier: MIT
// Claim 5. OneHot(x)×W_e is the look-up in W_e. The single-head CA is the multi-head one for h = 1 without W_O and B.
// DB = Res(FF)∘Res(CA∘N_ca) is X + CA(N_ca(X)) + FF(X + CA(N_ca(X))), and the inspirational one X + FF(X +
// CA(N_ca(X))). Each H_i, H, CA, DB (both), Φ and T_LM are autoregressive. (Article, "Embedding" to "Definition of
// TransformerLM": the chain of its notes.)
//
// Derivation. Q, K and V are rowwise, hence softmax(◺(Q×Kᵀ/√d_head)) is a causal kernel (claim 2). Hence H is
// autoregressive (claim 3), and CA = (+B)∘(×W_O)∘H is too (claim 1). FF is rowwise, hence DB is autoregressive (claim
// 1). PE is autoregressive, and Em, N and Φ are rowwise. Hence T_LM = Φ∘N∘DB∘…∘DB∘PE∘Em is autoregressive (claim 1).

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "controls.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

static_assert(rowwise<Em<double>> && rowwise<N<double>> && rowwise<FF<double>> && rowwise<Phi<double>>);
static_assert(autoregressive<PE<double>> && !rowwise<PE<double>>);
static_assert(autoregressive<H<double>> && !rowwise<H<double>>);
static_assert(autoregressive<CA1<double>> && !rowwise<CA1<double>>);
static_assert(autoregressive<CA<double>> && !rowwise<CA<double>>);
static_assert(autoregressive<DB<double>> && !rowwise<DB<double>>);
static_assert(autoregressive<InspirationalDB<double>> && !rowwise<InspirationalDB<double>>);
static_assert(autoregressive<T_LM<double>> && !rowwise<T_LM<double>>);
static_assert(!autoregressive<MH<double>>);  // without a mask nothing is claimed

namespace {

template <class Real>
using N_ca = Normalization<"N_ca", d_model, Real>;

/// The heads that CA has.
template <class Real>
using Heads =
    LinearHeads<"W_Q", "W_K", "W_V", d_model, n_heads, d_model / n_heads, d_model / n_heads, Causal, FromItself, Real>;

/// T_LM after Em, for sequences longer than a block of attention of the size that it has outside of the proofs.
inline constexpr Config longer{
    .vocab_size = vocab_size, .d_model = d_model, .d_ff = d_ff, .n_layers = 2, .n_heads = n_heads, .max_len = 65};
template <class Real>
using LongBehindEm = typename WithoutEm<typename TransformerLM<longer, Real>::form>::Rest;

}  // namespace

TEST_CASE("OneHot(x)×W_e is the look-up in W_e: one x of 4 tokens, exactly over the prime field" *
          doctest::description("one_hot_times_W_e")) {
  Generator generator{1};
  const auto embedding = draw_layer<Em<PrimeField>>(generator);
  const Tokens x{3, 0, 4, 3};
  Times<"W_e", vocab_size, d_model, PrimeField> times;
  times.W = embedding.W_e;
  Matrix<n, vocab_size, PrimeField> one_hot{x.sequences()};
  for (std::size_t i = 0; i < x.rows(); ++i) one_hot(i, std::size_t(x(i, 0))) = PrimeField(1);
  must_be_equal("OneHot(x)×W_e is the look-up in W_e", "Em", times(one_hot), embedding(x), 1);
}

TEST_CASE(
    "H_i(X) = softmax(◺(Q_i(X)×K_i(X)ᵀ/√d_head))×V_i(X), written out entry by entry: exactly over the prime field, and "
    "in double within 1e-12, n ≤ 6") {
  const auto compare = []<class Real>(Real) {
    redrawing(7, [](Generator& generator) {
      const auto head = draw_layer<OneHead<Real>>(generator);
      const auto written_out = [&]<Flaw flaw>(std::integral_constant<Flaw, flaw>) {
        WrittenOut<flaw, Real> formula;
        formula.Q.W = weight<"W_Q">(head);
        formula.K.W = weight<"W_K">(head);
        formula.V.W = weight<"W_V">(head);
        return formula;
      };
      for (std::size_t n = 1; n <= greatest_n; ++n) {
        INFO("n = ", n);
        const auto X = draw_matrix<Matrix<tlm::n, d_model, Real>>(Sequences{n}, generator);
        must_be_equal("H_i(X) = softmax(◺(Q_i(X)×K_i(X)ᵀ/√d_head))×V_i(X)", "H_i", head(X),
                      written_out(std::integral_constant<Flaw, Flaw::none>{})(X), 7);
        // Control: with one row every weight is 1. From two rows on, another scale shows.
        const auto other = written_out(std::integral_constant<Flaw, Flaw::divided_by_root_d_model>{})(X);
        CHECK((n == 1 || !same(head(X), other)));
      }
      return true;
    });
  };
  compare(PrimeField{});
  compare(double{});
}

TEST_CASE("CA(X) = H(X)×W_O + B: exactly over the prime field, n = 6") {
  redrawing(8, [](Generator& generator) {
    const auto ca = draw_layer<CA<PrimeField>>(generator);
    Heads<PrimeField> heads;
    weight<"W_Q">(heads) = weight<"W_Q">(ca);
    weight<"W_K">(heads) = weight<"W_K">(ca);
    weight<"W_V">(heads) = weight<"W_V">(ca);
    const auto X = draw_matrix<Matrix<n, d_model, PrimeField>>(Sequences{greatest_n}, generator);
    auto by_formula = heads(X) * weight<"W_O">(ca);
    for (std::size_t i = 0; i < greatest_n; ++i) by_formula.row(i) += weight<"B">(ca).row(0);
    must_be_equal("CA(X) = H(X)×W_O + B", "CA", ca(X), by_formula, 8);
    return true;
  });
}

TEST_CASE("the single-head CA is the multi-head CA for h = 1, without W_O and B: exactly over the prime field, n = 6" *
          doctest::description("one_head_is_the_whole, one_block_is_the_whole")) {
  redrawing(2, [](Generator& generator) {
    const auto single = draw_layer<CA1<PrimeField>>(generator);
    CausalAttention<d_model, 1, PrimeField> multi;
    weight<"W_Q">(multi) = weight<"W_Q">(single);
    weight<"W_K">(multi) = weight<"W_K">(single);
    weight<"W_V">(multi) = weight<"W_V">(single);
    for (std::size_t i = 0; i < d_model; ++i) weight<"W_O">(multi)(i, i) = PrimeField(1);  // W_O = I, B = 0
    const auto X = draw_matrix<Matrix<n, d_model, PrimeField>>(Sequences{greatest_n}, generator);
    must_be_equal("CA of one head is CA for h = 1 with W_O = I, B = 0", "CA", single(X), multi(X), 2);
    return true;
  });
}

TEST_CASE("Res(FF)∘Res(CA∘N_ca)(X) = X + CA(N_ca(X)) + FF(X + CA(N_ca(X))): exactly over the prime field, n = 6" *
          doctest::description("decoder_block_written_out")) {
  redrawing(3, [](Generator& generator) {
    const auto db = draw_layer<DB<PrimeField>>(generator);
    const auto& ff = part<FF<PrimeField>>(db);
    const auto& ca = part<CA<PrimeField>>(db);
    const auto& n_ca = part<N_ca<PrimeField>>(db);
    const auto X = draw_matrix<Matrix<n, d_model, PrimeField>>(Sequences{greatest_n}, generator);
    const auto CA_N_X = ca(n_ca(X));
    must_be_equal("DB(X) = X + CA(N_ca(X)) + FF(X + CA(N_ca(X)))", "DB", db(X), X + CA_N_X + ff(X + CA_N_X), 3);
    return true;
  });
}

TEST_CASE(
    "the inspirational DB(X) is X + FF(X + CA(N_ca(X))), and differs from the definition's: exactly over the prime "
    "field, n = 6" *
    doctest::description("inspirational_decoder_block_written_out")) {
  redrawing(4, [](Generator& generator) {
    const auto db = draw_layer<InspirationalDB<PrimeField>>(generator);
    const auto& ff = part<FF<PrimeField>>(db);
    const auto& ca = part<CA<PrimeField>>(db);
    const auto& n_ca = part<N_ca<PrimeField>>(db);
    const auto X = draw_matrix<Matrix<n, d_model, PrimeField>>(Sequences{greatest_n}, generator);
    const auto CA_N_X = ca(n_ca(X));
    must_be_equal("DB(X) = X + FF(X + CA(N_ca(X)))", "DB, inspirational", db(X), X + ff(X + CA_N_X), 4);
    DB<PrimeField> definition;
    part<FF<PrimeField>>(definition) = ff;
    part<CA<PrimeField>>(definition) = ca;
    part<N_ca<PrimeField>>(definition) = n_ca;
    CHECK(!same(db(X), definition(X)));  // the two formulas differ
    return true;
  });
}

namespace {

/// What tlm::check says about a layer. It runs once.
template <template <class> class Layer>
const Report& report_on(std::string_view name) {
  static const Report report = check<Layer>(name);
  return report;
}

}  // namespace

TEST_CASE("each H_i and H are autoregressive, over the four arithmetics, n ≤ 6" *
          doctest::description("H_is_autoregressive")) {
  must_hold(verdict_on<OneHead>("H_1", Claim::autoregressive));
  must_hold(verdict_on<Heads>("H", Claim::autoregressive));
}

TEST_CASE("CA is autoregressive, over the four arithmetics, n ≤ 6" * doctest::description("CA_is_autoregressive")) {
  CHECK(must_hold(report_on<CA1>("CA, one head"), " is autoregressive: "));
  CHECK(must_hold(report_on<CA>("CA"), " is autoregressive: "));
}

TEST_CASE("FF, Φ and N are rowwise, over the four arithmetics, n ≤ 6" *
          doctest::description("FF_is_rowwise, Φ_is_rowwise, N_is_rowwise")) {
  CHECK(must_hold(report_on<FF>("FF"), " is rowwise: "));
  CHECK(must_hold(report_on<Phi>("Φ"), " is rowwise: "));
  must_hold(verdict_on(subject<N, all_faces>("N"), Claim::rowwise));
}

TEST_CASE("DB is autoregressive, by both formulas, over the four arithmetics, n ≤ 6" *
          doctest::description("DB_is_autoregressive")) {
  CHECK(must_hold(report_on<DB>("DB"), " is autoregressive: "));
  CHECK(must_hold(report_on<InspirationalDB>("DB, inspirational"), " is autoregressive: "));
}

TEST_CASE(
    "T_LM is autoregressive: with both DB over the prime field, with the definition's over double and bits, too; over "
    "sets what follows Em, with the definition's DB; n ≤ 6" *
    doctest::description("T_LM_is_autoregressive")) {
  CHECK(must_hold(report_on<T_LM>("T_LM"), " is autoregressive: "));
  must_hold(
      compare_parts(OperationOf<InspirationalT_LM<PrimeField>>{"T_LM, inspirational"}, Claim::autoregressive, 11));
  must_hold(trace_positions(OperationOf<BehindEm<Dependencies>>{"Φ∘N∘DB∘DB∘PE"}, Claim::autoregressive));
}

TEST_CASE(
    "FF, Φ, CA, DB by both formulas and T_LM pass the other checks of tlm::check: they are what their forms say (CA of "
    "one head has none that the checks know), their "
    "pullbacks are the transposes of their derivatives, extending them by any pieces gives the rows of the whole, and "
    "those that are not called rowwise are not rowwise (theorems for T_LM: its pullback, where no ReLU is at 0, and "
    "its extension)" *
    doctest::description("T_LM_pullback_is_transpose, T_LM_is_extended")) {
  for (const Report& report :
       {report_on<FF>("FF"), report_on<Phi>("Φ"), report_on<CA1>("CA, one head"), report_on<CA>("CA"),
        report_on<DB>("DB"), report_on<InspirationalDB>("DB, inspirational"), report_on<T_LM>("T_LM")}) {
    must_hold(report, "");
    CHECK(must_hold(report, "the pullback is the transpose of the derivative: dual numbers of the prime field"));
    CHECK(must_hold(report, "however split: the prime field"));
    CHECK((report.layer() == "CA, one head" || must_hold(report, " is what its form says")));
    for (const Report::Line& line : report.lines())
      if (line.statement.find(" is not called ") != std::string::npos)
        CHECK_MESSAGE(line.statement.find(", and is not: ") != std::string::npos, line.statement);
  }
}

TEST_CASE(
    "for random weights every entry of row i of CA, DB and T_LM depends on each of the rows 1, …, i: if one of them "
    "changes, every entry changes (over the prime field, n ≤ 6)") {
  const auto every_row_counts = [](const Operation<PrimeField>& T) {
    must_hold(a_row_does_not_count(T, Claim::autoregressive));
  };
  every_row_counts(*operation<CA<PrimeField>, all_faces>("CA"));
  every_row_counts(*operation<DB<PrimeField>, all_faces>("DB"));
  every_row_counts(*operation<InspirationalDB<PrimeField>, all_faces>("DB, inspirational"));
  every_row_counts(*operation<T_LM<PrimeField>, all_faces>("T_LM"));
  every_row_counts(OperationOf<InspirationalT_LM<PrimeField>>{"T_LM, inspirational"});
}

TEST_CASE(
    "later rows do not change earlier rows of CA, DB and Φ∘N∘DB∘DB∘PE, to the last bit, around blocks of 32: float, n "
    "= 33 and i = 1, 31 and 32; CA in double, too, and for n = 65 and i = 33, 63 and 64") {
  const auto check = []<class Real>(std::size_t rows, const Operation<Real>& T) {
    const auto at_edges = [](const Trial<Real>& at, const Stacked<Real>& Y, const Cut& cut) -> std::optional<Failure> {
      const bool at_edge = (cut.number + 1) % 32 <= 2;  // a multiple of 32, or beside one
      return at_edge ? spoil_the_rest(at, Y, cut) : std::nullopt;
    };
    must_hold(at_cuts<Real>(T, Claim::autoregressive, 8, {Sequences{rows}}, {}, at_edges));
  };
  const Subject ca = subject<CA, all_faces>("CA"), db = subject<DB, all_faces>("DB");
  for (const std::size_t rows : {33u, 65u}) {
    check(rows, *ca.in_float);
    check(rows, *ca.in_double);
  }
  check(33, *db.in_float);
  check(33, OperationOf<LongBehindEm<float>>{"Φ∘N∘DB∘DB∘PE"});
}

TEST_CASE(
    "NaN in the later rows of PE does not reach the earlier rows of T_LM: float and double, to the last bit, n = 6") {
  const auto check = []<class Real, Config c>(TransformerLM<c, Real>*) {
    Generator generator{6};
    const auto model = draw_layer<TransformerLM<c, Real>>(generator);
    const auto x = draw_matrix<Tokens>(Sequences{greatest_n}, generator);
    const auto Y = model(x);
    for (std::size_t i = 1; i <= greatest_n; ++i) {
      auto spoilt_model = model;
      auto& weights = weight<"PE.PE">(spoilt_model);
      for (std::size_t pos = i; pos < max_len; ++pos)
        for (std::size_t j = 0; j < d_model; ++j) weights(pos, j) = std::numeric_limits<Real>::quiet_NaN();
      must_hold(first_difference({.claim = "the rows of PE after i do not matter",
                                  .layer = "T_LM",
                                  .arithmetic = arithmetic<Real>(),
                                  .seed = 6,
                                  .n = greatest_n,
                                  .i = i,
                                  .left = {"with NaN in them T(X)|i gives", ""},
                                  .right = {"before it gave", ""}},
                                 Stacked<Real>{spoilt_model(x) | i}, Stacked<Real>{Y | i}, 0, SameBits{}));
    }
  };
  check(static_cast<T_LM<float>*>(nullptr));
  check(static_cast<T_LM<double>*>(nullptr));
}
