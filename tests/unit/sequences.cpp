// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <exception>
#include <type_traits>
#include <vector>

#include "../shapes.hpp"

namespace tlm::tests::in_sequences {

namespace {

/// How far the rows of a long computation may be from those of a short one: products of other shapes add in another
/// order.
constexpr double tolerance = 1e-12;

/// T or a part of it adds a positional encoding, which has a limited number of rows.
template <class T>
constexpr bool remembers_lengths = [] {
  bool found = requires { requires std::is_same_v<typename T::State, std::vector<std::size_t>>; };
  if constexpr (detail::HasParts<T>)
    T::parts([&]<class Part>(std::size_t, Part&) { found = found || remembers_lengths<Part>; }, detail::imaginary<T>);
  return found;
}();

}  // namespace

TEST_CASE_TEMPLATE("wrong rows are refused as later ones, too, and a copy of the state goes on with the right ones", F,
                   proofs::Em<double>, proofs::PE<double>, proofs::W_p<double>, proofs::NumberAppended<double>,
                   proofs::PositionedH<double>, proofs::H<double>, proofs::T_LM<double>) {
  INFO("of ", name_of<F>());
  using Rows = typename F::domain;
  Generator generator{3};
  const F layer = random_layer<F>(generator);
  const auto X = random_rows<Rows>(Sequences{4}, generator), Z = random_rows<Rows>(Sequences{3}, generator);
  const auto Y_X = layer(X), Y_Z = layer(Z);
  State<F> begun{};
  advance(layer, begun, concat_sequences<Rows::cols>(std::vector{rows(X, 0, 2), rows(Z, 0, 1)}));
  // One sequence too many; a second one that is too long, after a first one that is not; a token outside of the
  // vocabulary.
  auto three = random_rows<Rows>(Sequences::of_lengths({1, 1, 1}), generator);
  auto too_long = random_rows<Rows>(Sequences::of_lengths({2, max_len}), generator);
  auto unknown = random_rows<Rows>(Sequences::of_lengths({2, 2}), generator);
  if constexpr (std::is_same_v<Rows, Tokens>) unknown(3, 0) = Token(vocab_size);
  std::size_t refusals = 0;
  for (const Rows* wrong : {&three, &too_long, &unknown}) {
    CAPTURE(wrong->sequences());
    State<F> state = begun;
    try {
      advance(layer, state, *wrong);
    } catch (const std::exception&) {
      ++refusals;
    }
  }
  CHECK(refusals == (rowwise<F> ? 0 : 1) + remembers_lengths<F> + std::is_same_v<Rows, Tokens>);
  const auto later = advance(layer, begun, concat_sequences<Rows::cols>(std::vector{rows(X, 2, 2), rows(Z, 1, 2)}));
  CHECK(distance(sequence(later, 0), rows(Y_X, 2, 2)) <= tolerance);
  CHECK(distance(sequence(later, 1), rows(Y_Z, 1, 2)) <= tolerance);
}

}  // namespace tlm::tests::in_sequences
