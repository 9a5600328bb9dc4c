// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <tlm/checking/comparison.hpp>

/// How every check runs: on random weights and a random X, for one stack of sequences after the other.
namespace tlm::checking {

/// Stacks of sequences of these lengths, none longer than the limit.
inline std::vector<Sequences> stacks(const Limits& limits, std::vector<std::vector<std::size_t>> lengths) {
  std::vector<Sequences> all;
  for (auto& of_one : lengths) {
    for (std::size_t& length : of_one) length = std::min(length, limits.rows);
    all.push_back(Sequences::of_lengths(of_one));
  }
  return all;
}
/// The stacks on which pullbacks are checked: the smallest first, then one of five sequences. Of these one is empty,
/// one as long as the limit, and two are of one length.
inline std::vector<Sequences> stacks_of_pullbacks(const Limits& limits) {
  return stacks(limits, {{1}, {2, 1}, {3, 0, limits.rows, 1, 3}});
}
/// One sequence of n rows, for n = 1, 2, ….
inline std::vector<Sequences> single_sequences(const Limits& limits) {
  std::vector<Sequences> all;
  for (std::size_t n = 1; n <= limits.rows; ++n) all.push_back(Sequences{n});
  return all;
}

/// A layer with random weights, and a random X.
template <class Real>
struct Trial {
  std::unique_ptr<Operation<Real>> layer;
  Input<Real> X;
  Draw kind;
  Generator& generator;
  const Limits& limits;
  Failure& failure;  ///< What there is to report if the check fails here, without values.

  const Sequences& sequences() const { return X.target.sequences; }
  /// Random rows such as the layer returns.
  Stacked<Real> draw_rows_of(const Sequences& sequences) const {
    return draw_rows<Real>(layer->codomain, sequences, generator, limits, kind);
  }
};

/// The failure if T(X) does not have as many rows as X.
template <class Real>
std::optional<Failure> rows_differ(const Trial<Real>& at, const Stacked<Real>& Y) {
  if (Y.sequences == at.sequences()) return std::nullopt;
  Failure failure = at.failure;
  failure.claim = "T(X) has as many rows as X";
  failure.left = {"T(X) has", shown(Y.sequences)};
  failure.right = {"X has", shown(at.sequences())};
  return failure;
}

/// The failure that `check` finds on the first of these stacks. It names the stack, or n if `failure` has an n. If
/// something throws, that is the failure. If a denominator of the prime field is 0, all is drawn anew. Floating-point
/// numbers are drawn in both kinds.
template <class Real>
std::optional<Failure> on_stacks(const Operation<Real>& T, Failure failure, std::uint64_t seed,
                                 const std::vector<Sequences>& stacks, const Limits& limits,
                                 const std::function<std::optional<Failure>(Trial<Real>&)>& check) {
  failure.layer = T.name;
  if (failure.arithmetic.empty()) failure.arithmetic = arithmetic<Real>();
  if (!std::is_same_v<Real, Dependencies>) failure.seed = seed;
  Failure here = failure;
  try {
    return redrawing(seed, [&](Generator& generator) -> std::optional<Failure> {
      for (const Sequences& sequences : stacks)
        for (const Draw kind : {Draw::any, Draw::special}) {
          if (kind == Draw::special && !std::is_floating_point_v<Real>) continue;
          here = failure;
          if (here.n)
            here.n = sequences.rows();
          else
            here.place = (sequences.count() == 1 ? "in a sequence of " : "in a stack of ") + shown(sequences);
          Trial<Real> at{drawn(T, generator, kind), {}, kind, generator, limits, here};
          at.X = draw_input(T, sequences, generator, limits, kind);
          if (auto found = check(at)) return found;
        }
      return std::nullopt;
    });
  } catch (const std::exception& thrown) {
    here.left = here.right = {};
    here.remark = std::string("it throws: ") + thrown.what();
    return here;
  }
}

}  // namespace tlm::checking
