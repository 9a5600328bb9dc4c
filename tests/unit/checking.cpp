// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tlm/checking/check.hpp>
#include <tlm/checking/in_memory.hpp>

/// tlm::check of layers that are right, and of such as are wrong in one way each. What it says of these is checked.
using namespace tlm;

namespace {

/// What a plant changes in the right layer.
enum class Plant {
  none,
  future_seen,            ///< a row adds the row behind it
  n_seen,                 ///< each row is divided by n
  sign_flipped,           ///< −X̄
  gradient_forgotten,     ///< W̄ is not added
  gradient_overwritten,   ///< W̄ takes the place of what is there
  not_linear,             ///< 1 is added to X̄
  other_value,            ///< value_and_pullback(X) begins with 2·T(X)
  extend_forgets,         ///< the state does not move on
  sequences_mix,          ///< the sum goes on from one sequence to the next
  takes_other_sequences,  ///< what it has read is forgotten for another number of sequences
  moves_and_refuses,      ///< the same, and then they are refused
  throws                  ///< for more than two rows
};

/// What is changed now.
Plant plant = Plant::none;

/// Row i of T(X) is Σ_{j ≤ i} w·x_j, column by column: autoregressive, with one row w of weights.
template <class Claim, class Real>
struct RunningSum {
  using declared = Claim;
  using domain = Matrix<n, 3, Real>;
  using codomain = domain;

  Matrix<1, 3, Real> w;

  struct State {
    domain last;  ///< The row that each sequence has come to.
  };

  codomain operator()(const domain& X) const {
    if (plant == Plant::throws && X.rows() > 2) throw std::length_error("more than two rows");
    State state;
    auto Y = extend(state, X);
    for (std::size_t i = 0; i < X.rows(); ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        if (plant == Plant::future_seen && i + 1 < X.rows()) Y(i, j) += X(i + 1, j);
        if (plant == Plant::n_seen) Y(i, j) = Y(i, j) / Real(X.rows());
      }
    return Y;
  }

  /// dx_j = w·Σ_{i ≥ j} dy_i, and dw = Σ_i dy_i·Σ_{j ≤ i} x_j.
  auto value_and_pullback(const domain& X) const {
    auto Y = (*this)(X);
    if (plant == Plant::other_value) Y += Y;
    return with_pullback(std::move(Y), [this, X](codomain Y_bar, RunningSum& gradient) {
      const Sequences& sequences = X.sequences();
      if (plant == Plant::gradient_overwritten) gradient.w = {};
      for (std::size_t s = 0; s < sequences.count(); ++s)
        for (std::size_t i = sequences.end(s); i-- > sequences.begin(s);)
          for (std::size_t j = 0; j < 3; ++j) {
            if (i + 1 < sequences.end(s)) Y_bar(i, j) += Y_bar(i + 1, j);
            if (plant != Plant::gradient_forgotten) gradient.w(0, j) += Y_bar(i, j) * X(i, j);
          }
      for (std::size_t i = 0; i < X.rows(); ++i)
        for (std::size_t j = 0; j < 3; ++j) {
          Y_bar(i, j) *= plant == Plant::sign_flipped ? -w(0, j) : w(0, j);
          if (plant == Plant::not_linear) Y_bar(i, j) += Real(1);
        }
      return Y_bar;
    });
  }

  codomain extend(State& state, domain X) const {
    const Sequences& sequences = X.sequences();
    if (state.last.rows() == 0 || ((plant == Plant::takes_other_sequences || plant == Plant::moves_and_refuses) &&
                                   state.last.rows() != sequences.count())) {
      const bool refused = state.last.rows() > 0 && plant == Plant::moves_and_refuses;
      state.last = domain{Sequences::of_lengths(std::vector<std::size_t>(sequences.count(), 1)), Real(0)};
      if (refused) throw std::invalid_argument("too late");
    }
    if (state.last.rows() != sequences.count()) throw std::invalid_argument("other sequences than before");
    domain last = state.last;
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i)
        for (std::size_t j = 0; j < 3; ++j)
          X(i, j) = last(plant == Plant::sequences_mix ? 0 : s, j) += w(0, j) * X(i, j);
    if (plant != Plant::extend_forgets) state.last = last;
    return X;
  }

  static constexpr void weights(auto&& visit, auto&... layer) { visit(Name{"w"}, layer.w...); }
};

/// w·X, row by row: rowwise.
template <class Claim, class Real>
struct Scale {
  using declared = Claim;
  using domain = Matrix<n, 3, Real>;
  using codomain = domain;

  Matrix<1, 3, Real> w;

  codomain operator()(domain X) const {
    for (std::size_t i = 0; i < X.rows(); ++i)
      for (std::size_t j = 0; j < 3; ++j) X(i, j) *= w(0, j);
    return X;
  }
  auto value_and_pullback(const domain& X) const {
    return with_pullback((*this)(X), [this, X](const codomain& Y_bar, Scale& gradient) {
      for (std::size_t i = 0; i < X.rows(); ++i)
        for (std::size_t j = 0; j < 3; ++j) gradient.w(0, j) += X(i, j) * Y_bar(i, j);
      return (*this)(Y_bar);
    });
  }
  struct State {};
  codomain extend(State&, const domain& X) const { return (*this)(X); }
  static constexpr void weights(auto&& visit, auto&... layer) { visit(Name{"w"}, layer.w...); }
};

template <class Real>
using Sum = RunningSum<is::Autoregressive, Real>;
template <class Real>
using DeclaredRowwise = RunningSum<is::Rowwise, Real>;
template <class Real>
using DeclaredUnrestricted = RunningSum<is::Unrestricted, Real>;
template <class Real>
using RightScale = Scale<is::Rowwise, Real>;
template <class Real>
using DeclaredAutoregressive = Scale<is::Autoregressive, Real>;
template <class Real>
using DeclaredConstant = Scale<is::Constant, Real>;

/// The report on the sum with this change.
Report check_sum(Plant changed, const checking::Limits& limits = {}) {
  plant = changed;
  const Report report = check<Sum>("Sum", limits);
  plant = Plant::none;
  return report;
}

std::string printed(const auto& object) {
  std::ostringstream out;
  out << object;
  return out.str();
}

/// The first line that falls, with its counter-example; and that some line holds beside it.
std::string first_fall(const Report& report) {
  CHECK(!report.holds());
  for (const auto& line : report.lines())
    if (line.failure) return line.statement + printed(*line.failure);
  return "";
}

/// Whether exactly the statements fall that begin with one of these words.
bool falls_only(const Report& report, std::initializer_list<std::string_view> words) {
  bool only = true;
  for (const auto& line : report.lines()) {
    bool named = false;
    for (const auto& word : words) named |= line.statement.starts_with(word);
    only &= named || !line.failure;
  }
  return only;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("what is right holds") {
  const auto sum = check_sum(Plant::none);
  INFO(sum);
  CHECK(sum.holds());
  CHECK(contains(printed(sum),
                 "note:  Sum is not called rowwise, and is not: T(X_i) = T(X)_i falls over double at n = 2, "
                 "i = 2\n"));
  CHECK(contains(printed(sum), "holds: Sum is autoregressive: double within 1e-12, n ≤ 6\n"));
  CHECK(contains(printed(sum), "holds: Sum is autoregressive: the prime field, exactly, n ≤ 6\n"));
  CHECK(contains(printed(sum), "holds: the pullback is linear"));
  CHECK(contains(printed(sum), "holds: extending in pieces"));

  const auto scale = check<RightScale>("Scale", {.rows = 4});
  INFO(scale);
  CHECK(scale.holds());
  CHECK(contains(printed(scale), "holds: Scale is rowwise: double within 1e-12, n ≤ 4\n"));
}

TEST_CASE("a future that is seen") {
  const auto report = check_sum(Plant::future_seen);
  const auto text = first_fall(report);
  INFO(report);
  CHECK(
      text.starts_with("Sum is autoregressive: double within 1e-12, n ≤ 6\n"
                       "  T(X|i) = T(X)|i — falls for Sum\n"
                       "  seen over double at n = 2, i = 1, in row 1, column 1:\n"
                       "    T(X|i) gives "));
  CHECK(contains(text, "\n    T(X)|i gives "));
  CHECK(contains(printed(report), "it depends on the rows {1, 2}\n    and may depend on {1}"));
}

TEST_CASE("a number of rows that is seen") {
  const auto report = check_sum(Plant::n_seen);
  INFO(report);
  CHECK(contains(printed(report), "FALLS: Sum is autoregressive: the prime field, exactly, n ≤ 6\n"));
  CHECK(contains(printed(report),
                 "holds: Sum is autoregressive: sets of positions at one n"));  // it is not seen at one n
}

TEST_CASE("a flipped sign in the pullback") {
  const auto report = check_sum(Plant::sign_flipped);
  const auto text = first_fall(report);
  INFO(report);
  CHECK(falls_only(report, {"the pullback is the transpose", "the pullback agrees with central differences"}));
  CHECK(
      text.starts_with("the pullback is the transpose of the derivative: dual numbers of the prime field, exactly\n"
                       "  ⟨Jv, w⟩ = ⟨v, Jᵀw⟩ — falls for Sum\n"
                       "  seen over dual numbers of the prime field, in a sequence of 1 row, in X, row 1, column 1:\n"
                       "    the derivative is "));
  CHECK(contains(text, "\n    the pullback returns "));
  CHECK(contains(printed(report), "in X, row 1, column 1:\n    by differences the derivative is "));
  CHECK(!contains(text, "n ="));
}

TEST_CASE("a gradient that is forgotten, and one that is overwritten") {
  const auto forgotten = check_sum(Plant::gradient_forgotten);
  INFO(forgotten);
  CHECK(falls_only(forgotten, {"the pullback is the transpose", "the pullback agrees with central differences"}));
  CHECK(contains(first_fall(forgotten), "in w, row 1, column 1:"));
  CHECK(contains(first_fall(forgotten), "the pullback returns 0"));

  const auto overwritten = check_sum(Plant::gradient_overwritten);
  INFO(overwritten);
  CHECK(falls_only(overwritten, {"the pullback adds to the gradient"}));
  CHECK(contains(first_fall(overwritten), "in w, row 1, column 1:\n    w₂ makes of the gradient that w₁ has left "));
}

TEST_CASE("a pullback that is not linear") {
  const auto report = check_sum(Plant::not_linear);
  INFO(report);
  CHECK(contains(printed(report),
                 "FALLS: the pullback is linear: the prime field, exactly\n  pullbacks are linear — falls "
                 "for Sum\n  seen over the prime field, in a sequence of 1 row, in row 1, column 1:\n"
                 "    of a·w₁ + w₂ it makes "));
}

TEST_CASE("a value that is another") {
  const auto report = check_sum(Plant::other_value);
  INFO(report);
  CHECK(falls_only(report, {"value_and_pullback(X) begins"}));
  CHECK(contains(first_fall(report), "    value_and_pullback(X).value is "));
}

TEST_CASE("an extension that forgets") {
  const auto report = check_sum(Plant::extend_forgets);
  INFO(report);
  CHECK(falls_only(report, {"extending in pieces", "other sequences than before are refused, and leave"}));
  CHECK(contains(first_fall(report),
                 "seen over double at n = 2, computed in pieces of 1 + 1 rows, in row 2, column 1:\n"
                 "    extending by the piece gives "));
}

TEST_CASE("an extension that takes other sequences than before is seen; one that refuses them too late does no harm") {
  const auto takes = check_sum(Plant::takes_other_sequences);
  INFO(takes);
  CHECK(falls_only(takes, {"other sequences than before are refused"}));
  CHECK(contains(first_fall(takes), "two sequences are not continued by three — falls for Sum"));
  CHECK(contains(first_fall(takes), "it takes them, and throws nothing"));

  const auto moves = check_sum(Plant::moves_and_refuses);
  INFO(moves);
  CHECK(moves.holds());  // tlm::extend keeps the state that there was
}

TEST_CASE("the weights that are visited are listed, and how many lines fall") {
  CHECK(contains(printed(check<RightScale>("Scale", {.rows = 2})),
                 "note:  the weights of Scale are w (1×3): what is not visited is not checked\n"));
  const auto right = check_sum(Plant::none, {.rows = 3});
  CHECK(right.fallen() == 0);
  CHECK(!contains(printed(right), "lines fall"));
  const auto wrong = check_sum(Plant::gradient_overwritten, {.rows = 3});
  CHECK(wrong.fallen() == 1);
  CHECK(contains(printed(wrong),
                 "\n1 of " + std::to_string(wrong.lines().size()) + " lines fall\nnote:  over the prime field alone"));
  const auto everywhere = check_sum(Plant::sequences_mix, {.rows = 3});
  CHECK(!contains(printed(everywhere), "over the prime field alone"));
}

TEST_CASE("sequences that mix") {
  const auto report = check_sum(Plant::sequences_mix);
  const auto text = first_fall(report);
  INFO(report);
  CHECK(text.starts_with("the sequences of a stack do not affect each other: double within 1e-12"));
  CHECK(contains(text, "seen over double, in a stack of 1 and 1 rows, in row 2, column 1:\n    T of the stack gives "));
  CHECK(contains(printed(report), "it depends on the sequences {1, 2}\n    and may depend on {2}"));
}

TEST_CASE("too much declared") {
  const auto report = check<DeclaredRowwise>("Sum");
  INFO(report);
  CHECK(contains(first_fall(report),
                 "T(X_i) = T(X)_i — falls for Sum\n  seen over double at n = 2, i = 2, in row 2, "
                 "column 1:\n    T(X_i) gives "));
  const auto constant = check<DeclaredConstant>("Scale");
  CHECK(contains(first_fall(constant), "T(X) does not depend on X — falls for Scale\n  seen over double at n = 1"));
}

TEST_CASE("too little declared") {
  CHECK(contains(first_fall(check<DeclaredAutoregressive>("Scale")),
                 "declared autoregressive, though as far as running can tell it is rowwise"));
  const auto report = check<DeclaredUnrestricted>("Sum");
  INFO(report);
  CHECK(falls_only(report, {"Sum is not called autoregressive"}));
  CHECK(contains(first_fall(report), "declared unrestricted, though as far as running can tell it is autoregressive"));
}

TEST_CASE("a layer that throws") {
  const auto report = check_sum(Plant::throws);
  CHECK(contains(first_fall(report), "it throws: more than two rows"));
  CHECK(check_sum(Plant::throws, {.rows = 1}).lines().size() > 10);
}

namespace {

/// A token's number in unary: nothing to differentiate by.
template <class Real>
struct Unary {
  using declared = is::Rowwise;
  using domain = Tokens;
  using codomain = Matrix<n, 5, Real>;
  codomain operator()(const domain& x) const {
    codomain Y{x.sequences(), Real(0)};
    for (std::size_t i = 0; i < x.rows(); ++i)
      for (std::size_t j = 0; j < std::size_t(x(i, 0)); ++j) Y(i, j) = Real(1);
    return Y;
  }
  auto value_and_pullback(const domain& x) const {
    return with_pullback((*this)(x), [](const codomain&, Unary&) { return Nothing{}; });
  }
  static constexpr void weights(auto&&, auto&...) {}
};

}  // namespace

TEST_CASE("tokens carry no tags and have no derivatives, and the report does not claim so") {
  const auto report = check<Unary>("Unary");
  INFO(report);
  CHECK(report.holds());
  CHECK(!contains(printed(report), "sets of positions"));
  CHECK(!contains(printed(report), "NaN"));
  CHECK(!contains(printed(report), "transpose"));
  CHECK(contains(printed(report), "note:  Unary has no weights and reads tokens: there is nothing by which to"));
}

TEST_CASE("limits without rows, and with too many") {
  CHECK_THROWS_WITH_AS(check<Unary>("Unary", {.rows = 0}), "a layer is checked on 1 to 31 rows, not on 0",
                       std::invalid_argument);
  CHECK_THROWS_AS(check<Unary>("Unary", {.rows = 32}), std::invalid_argument);
}

TEST_CASE("all ways to split") {
  CHECK(checking::all_splits({1}).size() == 1);
  CHECK(checking::all_splits({6}).size() == 32);
  CHECK(checking::shown(checking::all_splits({3})[0]) == "3 rows");
  CHECK(checking::shown(checking::all_splits({3})[1]) == "2 + 1 rows");
  CHECK(checking::all_splits({1, 1}).size() == 3);
  CHECK(checking::shown(checking::all_splits({1, 1})[1]) == "(0, 1) + (1, 0) rows");
  CHECK(checking::all_splits({3, 2}).size() == 76);
}

TEST_CASE("a failure prints nothing that does not apply") {
  CHECK(printed(Failure{.claim = "a claim", .layer = "T", .arithmetic = "double"}) ==
        "\n  a claim — falls for T\n  seen over double");
  CHECK(printed(Failure{.claim = "a claim",
                        .layer = "T",
                        .arithmetic = "float",
                        .seed = 7,
                        .n = 3,
                        .entry = "row 1",
                        .left = {"here is", "1"},
                        .right = {"there is", "2"}}) ==
        "\n  a claim — falls for T\n  seen over float at n = 3, in row 1:\n    here is 1\n    there is 2\n  seed 7");
}
