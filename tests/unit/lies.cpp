// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/all.hpp>
#include <tlm/checking/check.hpp>

#include "../printing.hpp"

/// Layers that are not what they say. Each is right except for the one lie that is told, and tlm::check must find it with
/// the statement that is named.
namespace tlm::tests::in_lies {

namespace {

/// The lie that is told now, and whether a layer was asked for it: so it cannot be misspelt.
std::string_view told = "";
bool was_asked = false;
bool tells(std::string_view lie) {
  was_asked = was_asked || told == lie;
  return told == lie;
}

/// Whether two numbers are equal: known of real numbers alone.
template <class Real>
bool equal(const Real& a, const Real& b) {
  if constexpr (std::is_floating_point_v<Real>) return a == b;
  return false;
}

/// w·x², entry by entry: rowwise, whatever it declares.
template <class Claim, class Real>
struct SquareOf {
  using declared = Claim;
  using domain = Matrix<n, 3, Real>;
  using codomain = domain;

  Matrix<1, 3, Real> w;

  codomain operator()(const domain& X) const {
    if (tells("throws after two rows") && X.rows() > 2) throw std::length_error("more than two rows");
    codomain Y{X.sequences()};
    for (std::size_t i = 0; i < X.rows(); ++i)
      for (std::size_t j = 0; j < 3; ++j) Y(i, j) = w(0, j) * X(i, j) * X(i, j);
    lie(X, Y);
    if (tells("writes into X") && X.rows() > 0) const_cast<Real&>(X(0, 0)) = Real(0);
    return tells("makes one sequence") ? of_one_sequence(Y) : Y;
  }

  auto value_and_pullback(const domain&) const&& { return refuse_temporary<SquareOf>(); }
  auto value_and_pullback(const domain& X) const& {
    auto Y = (*this)(X);
    if (tells("begins with another value")) Y += Y;
    if (tells("reads the next row of five") && X.rows() >= 5) Y(0, 0) += X(1, 0);
    const Real* const y = Y.data();  // which stay where they are when Y is moved
    return with_pullback(std::move(Y), [this, y, copied = X, X = &X, applied = std::make_shared<bool>(false)](
                                           const codomain& Y_bar, SquareOf& gradient) {
      auto X_bar = pulled_back(tells("keeps a reference to X") ? *X : copied, Y_bar, gradient);
      const bool again = std::exchange(*applied, true);
      for (std::size_t e = 0; e < X_bar.rows() * 3; ++e) {
        Real& x_bar = X_bar.data()[e];
        if (tells("keeps a reference to Y")) x_bar = Real(2) * Y_bar.data()[e] * y[e] / copied.data()[e];
        if (tells("flips the sign") || (tells("flips the sign the second time") && again)) x_bar = -x_bar;
        if (tells("adds 1 to X̄")) x_bar += Real(1);
      }
      if (tells("returns a row more")) return codomain{Sequences{X_bar.rows() + 1}};
      if (tells("keeps a reference to the sequences of X")) return with_sequences(X->sequences(), X_bar);
      return tells("makes one sequence of X̄") ? of_one_sequence(X_bar) : X_bar;
    });
  }

  struct State {};
  codomain extend(State&, const domain& X) const { return (*this)(X); }

  static constexpr void weights(auto&& visit, auto& layer) { visit("w", layer.w); }

 private:
  static domain with_sequences(const Sequences& sequences, const domain& X) {
    return domain{sequences, std::vector<Real>(X.data(), X.data() + X.rows() * 3)};
  }
  static domain of_one_sequence(const domain& X) { return with_sequences(Sequences{X.rows()}, X); }

  void lie(const domain& X, codomain& Y) const {
    const Sequences& sequences = X.sequences();
    const auto is_0 = [&](std::size_t i, std::size_t j) { return equal(X(i, j), Real(0)); };
    std::size_t rows_of_zeros = 0;
    for (std::size_t i = 0; i < X.rows(); ++i) rows_of_zeros += is_0(i, 0) && is_0(i, 1) && is_0(i, 2);
    for (std::size_t s = 0; s < sequences.count(); ++s) {
      for (std::size_t t = 0; t < s; ++t)
        if (tells("mixes sequences of one length") && sequences.length(s) == sequences.length(t) &&
            sequences.length(s) > 1)
          Y(sequences.begin(s), 0) += X(sequences.begin(t), 0);
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i)
        for (std::size_t j = 0; j < 3; ++j) {
          Real& y = Y(i, j);
          const std::size_t last = X.rows() - 1;
          const bool neighbours = equal(X(i, 0), X(i, 1)) || equal(X(i, 1), X(i, 2));
          if (tells("counts rows of zeros")) y /= Real(1 + rows_of_zeros);
          if (tells("looks for a zero") && is_0(i, j)) y += X(last, j);
          if (tells("looks for equal neighbours") && neighbours) y += X(last, j);
          if (tells("adds and subtracts the last row")) y = y + X(last, j) - X(last, j);
          if (tells("is wrong in float") && std::is_same_v<Real, float>) y += y;
          if (tells("is another for one row") && X.rows() == 1) y += y;
          if (tells("adds the last row to the first") && i == 0 && last > 0) y += X(last, j);
          if (tells("sees the row before") && i > 0) y += X(i - 1, j);
          if (tells("sees the next row") && i < last) y += X(i + 1, j);
          if (tells("divides by n")) y = y / Real(X.rows());
          if (tells("counts positions over the stack")) y += Real(i - sequences.begin(s)) - Real(i);
          if (tells("reads the sequence before") && s > 0 && sequences.length(s - 1) > 0)
            y += X(sequences.begin(s - 1), j);
          if (tells("counts sequences")) y *= Real(sequences.count());
          if (tells("overflows")) y *= exp(X(i, j)) / exp(X(i, j));
          if (tells("makes a constant of two doubles")) y *= Real(std::sin(0.5));
          if constexpr (std::is_floating_point_v<Real>) {
            if (tells("is NaN at equal neighbours") && neighbours) y = std::numeric_limits<Real>::quiet_NaN();
            if (tells("looks for large numbers") && std::abs(X(i, j)) > 100) y += X(last, j);
            if (tells("sees the next row a little") && i + 1 < sequences.end(s)) y += X(i + 1, j) / Real(1e14);
            if (tells("sees the first row a little")) y += X(sequences.begin(s), j) / Real(1e14);
          }
        }
    }
  }

  domain pulled_back(const domain& X, const codomain& Y_bar, SquareOf& gradient) const {
    const Sequences& sequences = X.sequences();
    domain X_bar{Y_bar.sequences()};
    if (tells("doubles the gradient")) gradient.w += gradient.w;
    if (tells("overwrites the gradient")) gradient.w = {};
    if (tells("adds 1 to the gradient")) gradient.w(0, 0) += Real(1);
    for (std::size_t s = 0; s < sequences.count(); ++s) {
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i)
        for (std::size_t j = 0; j < 3; ++j) {
          Real y_bar = Y_bar(i, j);
          const Real x = X(i, j);
          if (tells("is not linear")) y_bar = relu(y_bar);
          if (tells("makes a constant of two doubles")) y_bar *= -Real(std::sin(-0.5));
          if (tells("skips rows whose ȳ begins with 0") && equal(Y_bar(i, 0), Real(0))) y_bar = Real(0);
          X_bar(i, j) = Real(2) * y_bar * w(0, j) * x;
          if (tells("has a pullback that is wrong in float") && std::is_same_v<Real, float>) X_bar(i, j) += X_bar(i, j);
          if (tells("adds the last row of Ȳ to the first of X̄") && i == 0) X_bar(i, j) += Y_bar(Y_bar.rows() - 1, j);
          if constexpr (std::is_floating_point_v<Real>)
            if (tells("is NaN at zero")) X_bar(i, j) = y_bar * 2 * (w(0, j) * x * x) / x;
          const bool forgotten = tells("forgets the gradient") ||
                                 (tells("forgets the last sequence") && s > 0 && s + 1 == sequences.count());
          if (!forgotten) gradient.w(0, j) += y_bar * x * x;
        }
      if constexpr (std::is_floating_point_v<Real>)
        if (tells("is NaN for an empty sequence") && sequences.length(s) == 0) gradient.w(0, 0) += Real(0) / Real(0);
    }
    return X_bar;
  }
};
template <class Real>
using Square = SquareOf<is::Rowwise, Real>;
template <class Real>
using AutoregressiveSquare = SquareOf<is::Autoregressive, Real>;
template <class Real>
using ConstantSquare = SquareOf<is::Constant, Real>;
/// What it is called depends on its numbers.
template <class Real>
using OtherClaim = SquareOf<std::conditional_t<std::is_same_v<Real, float>, is::Rowwise, is::Autoregressive>, Real>;

/// The same with a weight that is not visited.
template <class Real>
struct SquareWithMore : Square<Real> {
  Matrix<1, 3, Real> more;
};
/// The same where w is visited in its place, too: as many numbers as it holds.
template <class Real>
struct TwoNames : SquareWithMore<Real> {
  static constexpr void weights(auto&& visit, auto& layer) {
    visit("w", layer.w);
    visit("more", layer.w);
  }
};
/// The same where a temporary one is not refused, to which its pullback would refer.
template <class Real>
struct SquareTemporarily : Square<Real> {
  auto value_and_pullback(const Matrix<n, 3, Real>& X) const { return Square<Real>::value_and_pullback(X); }
};
/// Another thing for an X that is given away than for one that is kept.
template <class Real>
struct OtherForTemporaries : Square<Real> {
  using typename Square<Real>::domain;
  domain operator()(const domain& X) const { return Square<Real>::operator()(X); }
  domain operator()(domain&& X) const { return X + Square<Real>::operator()(X); }
};

/// PE, which is extended otherwise.
template <class Real>
struct Positions : PositionalEncoding<31, 3, Real> {
  using typename PositionalEncoding<31, 3, Real>::domain;
  struct State {
    std::vector<std::size_t> lengths;
    std::shared_ptr<std::vector<std::size_t>> shared;
    const State* first = nullptr;
  };

  domain extend(State& state, domain X) const {
    const Sequences& sequences = X.sequences();
    if (state.lengths.empty()) {
      state.lengths.resize(sequences.count());
      state.shared = std::make_shared<std::vector<std::size_t>>(sequences.count());
      state.first = &state;
    }
    if (tells("has copies that follow it") && state.first != &state) state.lengths = *state.shared;
    const auto before = state.lengths;
    auto& lengths = tells("has copies that share memory") ? *state.shared : state.lengths;
    for (std::size_t s = 0; s < sequences.count(); ++s) {
      if (tells("forgets at an empty piece") && X.rows() == 0) lengths[s] = 0;
      if (tells("forgets where nothing comes") && sequences.length(s) == 0) lengths[s] = 0;
      if (tells("begins positions anew") && sequences.length(s) > 1) lengths[s] = 0;
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i) X.row(i) += this->PE.row(lengths[s]++);
    }
    if (tells("does not move on")) state.lengths = before;
    if (tells("has copies that follow it") && state.first == &state) *state.shared = state.lengths;
    return X;
  }
};

template <class Real>
using F = Composition<Plus<"B", 3, Real>, Times<"A", 3, 3, Real>>;
template <class Real>
using Once = Res<F<Real>>;
/// Says X + F(X), and is 2X + F(X).
template <class Real>
struct Twice : Once<Real> {
  using typename Once<Real>::domain;
  domain operator()(const domain& X) const { return X + Once<Real>::operator()(X); }
};
/// Visits its weights in another order than it applies them.
template <class Real>
struct OtherOrder : F<Real> {
  static constexpr void parts(auto&& visit, auto& layer) {
    visit(0, layer.g);
    visit(0, layer.f);
  }
};

/// ◺ up to the seventh row; row 8 sees row 9, if there is one.
struct LateMask {
  using declared = is::LowerTriangular;
  static constexpr std::size_t visible(std::size_t i, std::size_t n_keys) {
    return i < 7 ? i + 1 : std::min(i + 2, n_keys);
  }
};
template <class Real>
using LateAttention =
    Attention<1, LateMask, Times<"W_Q", 3, 3, Real>, Times<"W_K", 3, 3, Real>, Times<"W_V", 3, 3, Real>>;

/// The report on a layer that tells this lie.
template <template <class> class Layer>
Report report_on(std::string_view lie, const checking::Limits& limits = {}) {
  told = lie;
  was_asked = lie.empty();
  const Report report = check<Layer>("L", limits);
  told = "";
  REQUIRE(was_asked);
  return report;
}

using Texts = std::vector<std::string>;

/// Requires that every statement holds, and that the report has each of these parts.
template <template <class> class Layer>
void must_hold(std::string_view lie, const Texts& parts = {}, const checking::Limits& limits = {}) {
  const auto report = report_on<Layer>(lie, limits);
  INFO(report);
  CHECK(report.holds());
  for (const auto& part : parts) CHECK(printed(report) == Containing{part});
}

/// Requires that something fails, and that the report has each of these parts. Only statements fail that begin with one
/// of the words `only`.
template <template <class> class Layer>
void must_fail(std::string_view lie, const Texts& parts, const Texts& only = {""}) {
  const auto report = report_on<Layer>(lie);
  INFO("a layer that ", lie, ": ", report);
  CHECK(!report.holds());
  for (const auto& part : parts) CHECK(printed(report) == Containing{part});
  for (const auto& line : report.lines()) {
    const auto begins = [&](const auto& words) { return line.statement.starts_with(words); };
    if (line.failure) CHECK_MESSAGE(std::any_of(only.begin(), only.end(), begins), line.statement);
  }
}

}  // namespace

TEST_CASE("without a lie they pass") {
  for (const Report& report : {report_on<Square>(""), report_on<Positions>(""), report_on<Once>("")}) {
    INFO(report);
    CHECK(report.holds());
    CHECK_FALSE(printed(report) == Containing{"is not finite"});
  }
  must_hold<Positions>(
      "", {"note:  L is not called rowwise, and is not: T(X_i) = T(X)_i fails over double at n = 2, i = 2\n",
           "holds: L is autoregressive: double within 1e-12, n ≤ 6\n",
           "holds: L is autoregressive: the prime field, exactly, n ≤ 6\n", "holds: the pullback is linear",
           "holds: extending in pieces"});
  must_hold<Square>("",
                    {"note:  L has the weights w (1×3)\nholds: `weights` visits every number that a new L holds\n",
                     "holds: L is rowwise: double within 1e-12, n ≤ 4\n"},
                    {.rows = 4});
  must_hold<Square>("", {}, {.rows = 1});
}

TEST_CASE("values that depend on zeros, on equal numbers, on what hides") {
  const std::string fails = "FAILS: L is rowwise: ", bits = "float and double to the last bit";
  must_fail<Square>("counts rows of zeros", {fails + "double", fails + bits});
  for (const auto lie : {"looks for a zero", "looks for equal neighbours", "is NaN at equal neighbours"})
    must_fail<Square>(lie, {fails + "double"});
  must_fail<Square>("adds and subtracts the last row", {fails + "sets of positions", fails + bits});
  must_fail<Square>("is another for one row", {fails + "the prime field"});
  must_fail<Square>("adds the last row to the first", {fails + "the prime field"});
  must_fail<AutoregressiveSquare>("sees the next row a little", {"FAILS: L is autoregressive: " + bits});
  must_fail<Square>("sees the first row a little", {fails + bits});
  must_fail<Square>("is wrong in float", {"FAILS: value and pullback in float are those in double"});
}

TEST_CASE("values that depend on rows and on their number, where that is not claimed") {
  must_fail<AutoregressiveSquare>("sees the next row",
                                  {"FAILS: L is autoregressive: double within 1e-12, n ≤ 6\n"
                                   "  T(X|i) = T(X)|i — fails for L\n"
                                   "  seen over double at n = 2, i = 1, in row 1, column 1:\n"
                                   "    T(X|i) gives ",
                                   "\n    T(X)|i gives ",
                                   "row i depends on no row after i — fails for L\n"
                                   "  seen over sets of positions at n = 2, i = 1, in row 1, column 1:\n"
                                   "    it depends on the rows {1, 2}\n    and may depend on {1}"});
  must_fail<AutoregressiveSquare>("divides by n",
                                  {"FAILS: L is autoregressive: the prime field, exactly, n ≤ 6\n",
                                   "holds: L is autoregressive: sets of positions at one n"});  // where it is not seen
  must_fail<Square>("sees the row before", {"T(X_i) = T(X)_i — fails for L\n  seen over double at n = 2, i = 2, in row "
                                            "2, column 1:\n    T(X_i) gives ",
                                            "FAILS: L is rowwise: sets of positions"});
  must_fail<ConstantSquare>("", {"T(X) does not depend on X — fails for L\n  seen over double at n = 1",
                                 "FAILS: L does not depend on X: sets of positions"});
  must_fail<OtherClaim>("", {"FAILS: L is called the same over float and double"});
}

TEST_CASE("too little declared is a note") {
  must_hold<AutoregressiveSquare>("",
                                  {"note:  L is not called rowwise, though as far as running can tell it is, n ≤ 6\n"});
}

TEST_CASE("values that depend on other sequences") {
  const std::string fails = "FAILS: the sequences of a stack do not affect each other: ";
  must_fail<Square>(
      "reads the sequence before",
      {fails + "double within 1e-12", fails + "sets",
       "seen over double, in a stack of 1 and 1 rows, in row 2, column 1:\n    T of the sequence alone gives ",
       "a sequence depends on no other — fails for L\n  seen over sets of positions, in a stack of 1 and 1 rows, ",
       "in row 2, column 1:\n    it depends on the rows {1, 2}\n    and may depend on {2}"});
  must_fail<Square>("makes one sequence", {fails + "double"});
  for (const auto lie : {"counts sequences", "mixes sequences of one length", "counts positions over the stack"})
    must_fail<Square>(lie, {fails + "the prime field"});
}

TEST_CASE("lies about pullbacks are seen") {
  const Texts transposes{"the pullback is the transpose", "the pullback agrees with central differences"};
  const std::string fails = "FAILS: the pullback is the transpose of the derivative",
                    in_float = "value and pullback in float", of_a_row = "row i of X̄";
  must_fail<Square>("flips the sign",
                    {fails + ": dual numbers of the prime field, exactly",
                     "\n  ⟨Jv, w⟩ = ⟨v, Jᵀw⟩ — fails for L\n"
                     "  seen over dual numbers of the prime field, in a sequence of 1 row, in X, row 1, column 1:\n"
                     "    the pullback returns ",
                     "\n    the derivative is ",
                     "in a sequence of 1 row, in X, row 1, column 1:\n    by differences the derivative is "},
                    transposes);
  must_fail<Square>("forgets the gradient", {"in w, row 1, column 1:", "the pullback returns 0"}, transposes);
  must_fail<Square>("overwrites the gradient",
                    {"in w, row 1, column 1:\n    w₂ makes of the gradient that w₁ has left "},
                    {"the pullback adds to the gradient"});
  must_fail<Square>("doubles the gradient", {"FAILS: the pullback adds to the gradient"});
  const std::string linear =
      "\n  pullbacks are linear — fails for L\n  seen over the prime field, in a sequence of 1 row, in ";
  must_fail<Square>("adds 1 to X̄", {linear + "X, row 1, column 1:\n    for a·w₁ + w₂ it returns "}, {"the pullback "});
  must_fail<Square>("adds 1 to the gradient", {linear + "w, row 1, column 1:\n"}, {"the pullback "});
  must_fail<Square>("is not linear", {"FAILS: the pullback is linear"});
  must_fail<Square>("returns a row more",
                    {"it throws: the number of rows of sequence 1 is 1 in X, but 2 in the X̄ that the pullback returns"},
                    {"the pullback ", in_float, of_a_row});
  must_fail<Square>(
      "flips the sign the second time",
      {"FAILS: the pullback can be applied again: the prime field, exactly, and double to the last bit",
       "\n  a pullback can be applied again — fails for L\n  seen over the prime field, in a sequence of 1 "
       "row, in X, row 1, column 1:\n    applied again, it returns "},
      {"the pullback "});
  must_fail<Square>("begins with another value", {"    value_and_pullback(X).value is "},
                    {"value_and_pullback(X) begins"});
  must_fail<Square>("reads the next row of five", {"FAILS: value_and_pullback(X) begins with T(X): the prime field"});
  must_fail<OtherForTemporaries>("", {"FAILS: value_and_pullback(X) begins with T(X)"});
  must_fail<Square>("has a pullback that is wrong in float",
                    {"FAILS: value and pullback in float are those in double"});
  for (const auto lie : {"is NaN at zero", "is NaN for an empty sequence", "skips rows whose ȳ begins with 0"})
    must_fail<Square>(lie, {fails + ": dual numbers of double"});
  for (const auto lie : {"keeps a reference to X", "keeps a reference to the sequences of X", "keeps a reference to Y",
                         "makes one sequence of X̄", "writes into X"})
    must_fail<Square>(lie, {fails});
  must_fail<Square>(
      "forgets the last sequence",
      {fails, "in a stack of 2 and 3 rows, in w, row 1, column 1:\n    by differences the derivative is "});
  must_fail<TwoNames>("", {fails});
  must_fail<Square>("adds the last row of Ȳ to the first of X̄", {"FAILS: row i of X̄ depends on no row of Ȳ but i"});
}

TEST_CASE("a pullback that refers to a temporary layer, and a weight that is not visited") {
  must_fail<SquareTemporarily>("",
                               {"a pullback that refers to its layer refuses a temporary one — fails for L",
                                "return tlm::refuse_temporary<L>(); } beside it"},
                               {"the pullback does not refer to the weights of L, which may be a temporary"});
  CHECK_FALSE(printed(report_on<Square>("")) == Containing{"temporary"});
  must_fail<SquareWithMore>("",
                            {"`weights` visits every number that a new L holds\n"
                             "  a layer holds its weights and no other numbers — fails for L:\n"
                             "    it holds 6 numbers\n    `weights` visits the weights w (1×3): 3\n  what is not"},
                            {"`weights` visits"});
}

TEST_CASE("a layer that throws") {
  const auto report = report_on<AutoregressiveSquare>("throws after two rows");
  CHECK(printed(report) ==
        Containing{
            "T(X|i) = T(X)|i — fails for L\n  seen over double at n = 3\n  it throws: more than two rows\n  seed 1"});
  CHECK(printed(report) ==
        Containing{
            "note:  L is not called rowwise; whether it is so could not be seen, as it throws: more than two rows\n"});
  for (const auto& line : report.lines())
    if (line.failure) CHECK(printed(*line.failure) == Containing{"it throws: more than two rows"});
}

TEST_CASE("extensions") {
  must_fail<Positions>(
      "does not move on",
      {"seen over double, in a sequence of 2 rows, computed in pieces of 1 + 1 rows, in row 2, column 1:\n"
       "    extending by the piece gives "},
      {"extending in pieces"});
  for (const auto lie : {"has copies that share memory", "has copies that follow it", "begins positions anew",
                         "forgets where nothing comes", "forgets at an empty piece"})
    must_fail<Positions>(lie, {"FAILS: extending in pieces gives the rows of the whole"}, {"extending in pieces"});
}

TEST_CASE("a layer is not asked to go on with other sequences than before") {
  const Positions<double> layer;
  tlm::State<Positions<double>> state;
  advance(layer, state, Matrix<n, 3, double>{Sequences::of_lengths({1, 1, 1}), 1.0});
  CHECK_THROWS_WITH_AS(advance(layer, state, Matrix<n, 3, double>{Sequences::of_lengths({1, 1}), 1.0}),
                       "a stack of 3 sequences cannot be continued by 2", std::invalid_argument);
}

TEST_CASE("forms") {
  must_fail<Twice>("", {"FAILS: L is what its form says"});
  must_fail<OtherOrder>("", {"FAILS: L is what its form says"});
}

TEST_CASE("a report ends with how many lines fail, and with which to begin") {
  const auto right = report_on<Square>("");
  CHECK(right.failed() == 0);
  CHECK(printed(right).ends_with("\nall " + std::to_string(right.statements()) + " statements hold\n"));
  CHECK(right.statements() + 2 == right.lines().size());  // with the notes
  const auto wrong = report_on<Square>("overwrites the gradient");
  CHECK(wrong.failed() == 1);
  // over the field, but nowhere else was it asked
  CHECK(printed(wrong).ends_with("\n1 of " + std::to_string(wrong.statements()) + " statements fail\n"));
  CHECK(printed(report_on<Square>("makes a constant of two doubles")) ==
        Containing{" statements fail\nnote:  over the prime field alone"});
  CHECK_FALSE(printed(report_on<Square>("is NaN at zero")) == Containing{"over the prime field alone"});
  const auto everywhere = report_on<Square>("reads the sequence before");
  CHECK(everywhere.failed() > 1);
  CHECK(printed(everywhere)
            .ends_with(" statements fail\nnote:  begin with the first that fails: what is below may fail for the same "
                       "reason\n"));
}

TEST_CASE("31 rows are split in some ways, and the report says so") {
  must_hold<Positions>("",
                       {"however split: double within 1e-12, in all ways for n ≤ 6, in two and one by one beyond, n ≤ "
                        "31 and a stack of"},
                       {.rows = 31});
}

TEST_CASE("what begins after the rows that are looked at passes, with the rows that were; with more rows it is seen") {
  must_hold<LateAttention>("", {"is autoregressive: double within 1e-12, n ≤ 6"});
  CHECK(printed(report_on<LateAttention>("", {.rows = 9})) == Containing{"seen over double at n = 9, i = 8"});
}

TEST_CASE("what is told where a row itself is large passes, as docs/evidence.rst says") {
  must_hold<Square>("looks for large numbers");
}

TEST_CASE("a layer that is not finite where X is finite and large gets a note") {
  must_hold<Square>("overflows", {"note:  L is not finite everywhere: double, for an X with entries of up to 2000"});
}

}  // namespace tlm::tests::in_lies
