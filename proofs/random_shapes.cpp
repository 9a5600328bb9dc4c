// SPDX-License-Identifier: MIT
// Claims 4 and 5 in any shapes: ragged stacks, and any way to split an extension. RapidCheck draws the shapes from a fixed
// seed, which it prints (RC_PARAMS="seed=…" takes another), and shrinks what fails.

#include <doctest/doctest.h>

#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include <rapidcheck.h>

#include "support.hpp"

using namespace tlm;
using namespace tlm::proofs;

namespace {

[[maybe_unused]] const int seeded = setenv("RC_PARAMS", "seed=20261121 max_success=60", 0);  // the program's

using Lengths = std::vector<std::size_t>;

/// A number from 0 to `most`, all equally likely. (RapidCheck draws small ones first unless it is told the full size.)
rc::Gen<std::size_t> up_to(std::size_t most) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, most + 1));
}

/// One to five lengths from 0 to max_len.
rc::Gen<Lengths> any_lengths() {
  return rc::gen::mapcat(up_to(4),
                         [](std::size_t more) { return rc::gen::container<Lengths>(more + 1, up_to(max_len)); });
}

/// T of a stack is the stack of T, whatever the lengths.
bool stacks_agree(const Operation<PrimeField>& T) {
  return rc::check(T.name, [&] {
    RC_ASSERT(!at_cuts<PrimeField>(T, Claim::of_each_sequence, 1, {Sequences::of_lengths(*any_lengths())}, {},
                                   compare_part<PrimeField>));
  });
}

/// T extended by pieces drawn at random gives the rows of the whole.
bool extensions_agree(const Operation<PrimeField>& T) {
  return rc::check(T.name, [&] {
    const Lengths lengths = *any_lengths();
    std::vector<Lengths> pieces;
    for (Lengths left = lengths; std::accumulate(left.begin(), left.end(), std::size_t{0}) > 0;) {
      Lengths piece;
      for (std::size_t& length : left) {
        piece.push_back(*up_to(length));
        length -= piece.back();
      }
      if (std::accumulate(piece.begin(), piece.end(), std::size_t{0}) == 0)
        piece = std::exchange(left, Lengths(left.size()));
      pieces.push_back(piece);
    }
    RC_LOG() << "in " << pieces.size() << " pieces: " << shown(pieces) << '\n';
    RC_ASSERT(!on_stacks<PrimeField>(T, {}, 2, {Sequences::of_lengths(lengths)}, {}, [&](const Trial<PrimeField>& at) {
      return pieces_differ(at, (*at.layer)(at.X), pieces);
    }));
  });
}

/// Forgets what it has seen.
struct Forgetful : PE<PrimeField> {
  codomain extend(State&, domain X) const { return (*this)(std::move(X)); }
};

}  // namespace

TEST_CASE(
    "the sequences of a stack do not affect each other, for each layer of the list, blocks and T_LM: exactly over the "
    "prime field, in stacks of 1 to 5 sequences of 0 to 9 rows (60 stacks are drawn, or as many as RC_PARAMS says)") {
  for_each_layer([]<template <class> class Layer>(Listed<Layer> listed) {
    CHECK(stacks_agree(OperationOf<Layer<PrimeField>, all_faces>{listed.name}));
  });
}

TEST_CASE(
    "extending each autoregressive layer of the list, blocks and T_LM by pieces gives the rows of the whole: exactly "
    "over the prime field, in stacks of 1 to 5 sequences of 0 to 9 rows (60 stacks and ways to split them are drawn, "
    "or as many as RC_PARAMS says)") {
  for_each_layer([]<template <class> class Layer>(Listed<Layer> listed) {
    if constexpr (autoregressive<Layer<PrimeField>>)
      CHECK(extensions_agree(OperationOf<Layer<PrimeField>, all_faces>{listed.name}));
  });
}

TEST_CASE("control: a layer that forgets is seen") {
  CHECK_FALSE(extensions_agree(OperationOf<Forgetful, extension_face>{"forgetful (this one is to be falsified)"}));
}
