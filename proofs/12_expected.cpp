// SPDX-License-Identifier: MIT
// What else a mathematician expects of these definitions. Each takes a few lines, and the article claims none of them.
//
//   T is rowwise iff it is autoregressive and equivariant under permutations: row i of T(X) is row 1 of T(PX), where P moves
//   row i to the front; and that is T((PX)|1) = T(X_i). T is autoregressive iff T(X++Y) begins with T(X).
//
//   Row n of a causal attention is a sum over all rows, weighted by what is not their order. So one layer without positions
//   does not see the order of earlier rows. Two do: row 2 of the first has seen row 1, and row 1 has not seen row 2.
//
//   ∘ is associative, and X ↦ X is its identity.
//
//   Conditional probabilities sum to 1; so their products over all sequences do, summed from the last factor to the first.
//   The softmax's Jacobian y_j ([j = k] − y_k) tends to 0 where y tends to a corner, as it does for scores t·s
//   with t → ∞ if one of them is the largest.
//   (The NumPy notebook on long vectors; the article's notebook on the batch space.)

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "generic.hpp"
#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

using Field = Operation<PrimeField>;

/// A layer of the list, over the prime field.
template <template <class> class Layer, int faces = value_face>
std::unique_ptr<Field> field() {
  return operation<Layer<PrimeField>, faces>("T");
}

/// Whether a claim fails. Nothing may throw.
bool sees(const std::optional<Failure>& failure) {
  REQUIRE((!failure || fails(failure)));
  return failure.has_value();
}

/// Whether T(PX) = P T(X) fails. Or whether the last row sees in which order the rows before it are.
bool sees_order(const Field& T) { return sees(permutation_fails(T, 1)); }
bool last_row_sees_order(const Field& T) { return sees(permutation_fails(T, 1, 3, 3)); }

/// Whether T(X++Y) begins with T(X), for X and Y of 1 to 3 rows.
bool begins_with_its_beginning(const Field& T) {
  return redrawing(2, [&](Generator& generator) {
    const auto layer = drawn(T, generator);
    for (std::size_t i = 1; i <= 3; ++i)
      for (std::size_t rest = 1; rest <= 3; ++rest) {
        const auto X = draw_input(T, Sequences{i}, generator, {}), Y = draw_input(T, Sequences{rest}, generator, {});
        auto both = X.target;
        both.sequences = Sequences{i + rest};
        both.numbers.insert(both.numbers.end(), Y.target.numbers.begin(), Y.target.numbers.end());
        if (first_difference({}, (*layer)(X.with(both)).rows(0, i), (*layer)(X))) return false;
      }
    return true;
  });
}

bool holds(const Field& T, Claim claim) { return !sees(compare_parts(T, claim, 11)); }

template <class Real>
using TwoDB = Stack<DB<Real>, 2>;
template <class Real>
using CA_of_PE = Composition<CA<Real>, PE<Real>>;

template <Symbol name, class Real>
using Past = Part<is::Autoregressive, name, Real>;
template <class Real>
using LeftFirst = Composition<Composition<Past<"H", Real>, Past<"G", Real>>, Past<"F", Real>>;
template <class Real>
using RightFirst = Composition<Past<"H", Real>, Composition<Past<"G", Real>, Past<"F", Real>>>;
template <class Real>
using JustF = Past<"F", Real>;
template <class Real>
using F_of_identity = Composition<Past<"F", Real>, Identity<cols, Real>>;
template <class Real>
using IdentityOfF = Composition<Identity<cols, Real>, Past<"F", Real>>;
template <class Real>
using AnotherF = Composition<Past<"H", Real>, Past<"G", Real>, Res<Past<"F", Real>>>;

/// Whether two operations with the same weights have the same value and pullback, and the same rows when they are
/// extended.
bool are_one(const Field& left, const Field& right) {
  return redrawing(3, [&](Generator& generator) {
    const Sequences sequences = Sequences::of_lengths({3, 0, 2});
    const auto X = draw_input(left, sequences, generator, {});
    const auto w = draw_rows<PrimeField>(left.codomain, sequences, generator);
    std::vector<Stacked<PrimeField>> results[2];
    for (const Field* T : {&left, &right}) {
      auto& list = results[T == &right];
      Generator weights{4};
      const auto layer = drawn(*T, weights);
      const auto result = layer->differentiated(X);
      list.push_back((*layer)(X));
      list.push_back(result->value);
      const PulledBack<PrimeField> pulled_back{T->another(), *result, w};
      for (const auto& table : pulled_back.tables) {
        list.push_back({Sequences{table.rows}, {table.cols}});
        std::copy(table.begin(), table.end(), list.back().numbers.begin());
      }
      auto state = layer->at_the_beginning();
      std::vector<std::size_t> taken{0, 0, 0};
      for (const auto& piece : Pieces{{2, 0, 1}, {0, 0, 1}, {1, 0, 0}}) {
        list.push_back(state(X.with(piece_of(X.target, taken, piece))));
        for (std::size_t s = 0; s < 3; ++s) taken[s] += piece[s];
      }
    }
    return std::equal(results[0].begin(), results[0].end(), results[1].begin(), results[1].end(),
                      [](const auto& a, const auto& b) { return !first_difference({}, a, b); });
  });
}

}  // namespace

TEST_CASE(
    "T is rowwise iff it is autoregressive and equivariant under permutations, T(PX) = P T(X): ten layers of the list, "
    "where all three are decided by running them over the prime field, n ≤ 6, 24 permutations of 4 rows" *
    doctest::description("rowwise_iff_autoregressive_and_equivariant, rowwise_iff_each_row")) {
  const auto check = [](const std::string& name, const std::unique_ptr<Field>& T, bool rowwise, bool equivariant) {
    INFO(name);
    CHECK(holds(*T, Claim::rowwise) == rowwise);
    CHECK(sees_order(*T) != equivariant);
    CHECK((holds(*T, Claim::autoregressive) && equivariant) == rowwise);
  };
  check("N", field<N>(), true, true);
  check("X×A", field<TimesA>(), true, true);
  check("X+K", field<PlusK>(), true, true);
  check("ReLU", field<ReLu>(), true, true);
  check("Softmax", field<SoftMax>(), true, true);
  check("FF", field<FF>(), true, true);
  check("PE", field<PE>(), false, false);
  check("CA", field<CA>(), false, false);
  check("DB", field<DB>(), false, false);
  check("MultiHead, unmasked", field<MH>(), false, true);
}

TEST_CASE(
    "T is autoregressive iff T(X++Y) begins with T(X): five layers of the list and the formulated encoder layer, over "
    "the prime field, X and Y of 1 to 3 rows (theorems for ⇒, and that T is so iff row i of T(X) is a function of "
    "X|i)" *
    doctest::description("earlier_rows_stand, autoregressive_iff_function_of_the_past")) {
  const auto check = [](const std::unique_ptr<Field>& T, bool autoregressive) {
    CHECK(begins_with_its_beginning(*T) == autoregressive);
    CHECK(holds(*T, Claim::autoregressive) == autoregressive);
  };
  for (const auto& T : {field<N>(), field<PE>(), field<CA>(), field<DB>()}) check(T, true);
  for (const auto& T : {field<MH>(), field<EncoderLayer>()}) check(T, false);
}

TEST_CASE(
    "one causal layer without positions does not see the order of earlier rows: row 4 of CA(X) and of DB(X) is the "
    "same for all orders of rows 1 to 3, exactly over the prime field (a theorem for one head alone)" *
    doctest::description("causal_attention_does_not_see_the_order")) {
  CHECK(!last_row_sees_order(*field<CA>()));
  CHECK(!last_row_sees_order(*field<DB>()));
}

TEST_CASE("control: with positions, and with a second layer, the order shows") {
  CHECK(last_row_sees_order(*field<CA_of_PE>()));
  CHECK(last_row_sees_order(*field<TwoDB>()));
}

TEST_CASE(
    "(H∘G)∘F = H∘(G∘F) and F∘id = F = id∘F, in values, pullbacks and extensions: generic autoregressive F, G and H, "
    "exactly over the prime field, a stack of 3, 0 and 2 rows (theorems for values, and for H∘G∘F in pullbacks)" *
    doctest::description("composition_is_associative, pullback_of_composition_is_associative, identity_is_neutral")) {
  CHECK(are_one(*field<LeftFirst, both_faces>(), *field<RightFirst, both_faces>()));
  CHECK(are_one(*field<F_of_identity, both_faces>(), *field<JustF, both_faces>()));
  CHECK(are_one(*field<IdentityOfF, both_faces>(), *field<JustF, both_faces>()));
  CHECK(!are_one(*field<LeftFirst, both_faces>(), *field<AnotherF, both_faces>()));  // control
}

TEST_CASE(
    "T_LM gives a distribution on sequences, Σ_x Π_k exp Y[k]_{x_k} = 1 over all 125 sequences of 3 of 5 tokens: 5 "
    "draws of weights, in double within 1e-13; and without the leading 0 it does not (control)") {
  std::vector<std::vector<Token>> sequences;
  for (Token a = 0; a < 5; ++a)
    for (Token b = 0; b < 5; ++b)
      for (Token c = 0; c < 5; ++c) sequences.push_back({a, b, c});
  static_assert(vocab_size == 5);
  const Tokens x{sequences};
  Generator generator{6};
  for (int draws = 0; draws < 5; ++draws) {
    const auto model = draw_layer<T_LM<double>>(generator);
    const auto sum_of_products = [&](const auto& Y) {
      double sum = 0;
      for (std::size_t s = 0; s < sequences.size(); ++s) {
        double log_p = 0;
        for (std::size_t k = 0; k < 3; ++k) log_p += Y(3 * s + k, std::size_t(sequences[s][k]));
        sum += std::exp(log_p);
      }
      return sum;
    };
    const auto Y = log_softmax(model(detail::after_start(0, x)));
    CHECK(std::abs(sum_of_products(Y) - 1) < 1e-13);
    CHECK(std::abs(sum_of_products(log_softmax(model(x))) - 1) > 1e-3);
  }
}

TEST_CASE("the values of PE, before training, and of W_p lie in [−1, 1]: float and double, 512 positions, d = 128") {
  const auto check = []<class Real>(Real) {
    for (const auto& PE : {PositionalEncoding<512, 128, Real>::sinusoidal(),
                           ConstantPositionalEncoding<512, 128, Real>{}.PE, SinesThenCosines<512, 128, Real>{}.PE})
      CHECK(std::all_of(PE.data(), PE.data() + 512 * 128, [](Real p) { return -1 <= p && p <= 1; }));
  };
  check(0.f);
  check(0.0);
}

TEST_CASE(
    "long vectors make small gradients: the maximum of the softmax's Jacobian at t·s falls with t = 1, 10, 100, 1000, "
    "and is below 1e-30 at the last: s of 6 random numbers, in double") {
  Generator generator{9};
  using Rows = Matrix<n, 6, double>;
  const Rows s = draw_matrix<Rows>(Sequences{1}, generator);
  const Softmax<6, double> softmax;
  double before = 1;
  for (const double t : {1.0, 10.0, 100.0, 1000.0}) {
    Rows scores = s;
    for (std::size_t j = 0; j < 6; ++j) scores(0, j) *= t;
    const auto at = softmax.value_and_pullback(scores);
    double greatest = 0;
    for (std::size_t k = 0; k < 6; ++k) {
      Rows y_bar{Sequences{1}};
      y_bar(0, k) = 1;
      Softmax<6, double> gradient;
      const auto x_bar = at.pullback(y_bar, gradient);
      for (std::size_t j = 0; j < 6; ++j) {
        REQUIRE(std::isfinite(x_bar(0, j)));
        greatest = std::max(greatest, std::abs(x_bar(0, j)));
      }
    }
    INFO("t = ", t, ", greatest entry ", greatest);
    CHECK(greatest < before);
    before = greatest;
  }
  CHECK(before < 1e-30);
}

TEST_CASE(
    "the loss does not change if all ω are multiplied by one number ≠ 0, exactly over the prime field; at ω = 0 it has "
    "no value, though the notebook says that it works for any point of the batch space: the loss of T_LM in double "
    "refuses ω = 0") {
  redrawing(10, [](Generator& generator) {
    const auto model = draw_layer<T_LM<PrimeField>>(generator);
    const Tokens x{3, 1, 4};
    const auto omega = draw_matrix<Matrix<n, 1, PrimeField>>(Sequences{3}, generator);
    const PrimeField c = PrimeField::random(generator);
    auto scaled = omega;
    for (std::size_t k = 0; k < 3; ++k) scaled(k, 0) *= c;
    CHECK(same(loss(model, Batch<PrimeField>{0, x, scaled}), loss(model, Batch<PrimeField>{0, x, omega})));
    return true;
  });
  Generator generator{11};
  const auto model = draw_layer<T_LM<double>>(generator);
  const Tokens x{3, 1, 4};
  CHECK_THROWS_WITH_AS(loss(model, Batch<double>{0, x, Matrix<n, 1, double>{Sequences{3}}}),
                       "the loss weights of a batch sum to 0: no token counts", std::invalid_argument);
}
