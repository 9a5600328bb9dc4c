// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/algebra/encoder_decoder.hpp>
#include <tlm/algebra/weights.hpp>
#include <tlm/checking/positions.hpp>
#include <tlm/checking/prime_field.hpp>
#include <tlm/matrix/rearranged.hpp>
#include <tlm/matrix/refuse.hpp>
#include <tlm/random/generator.hpp>

/// Inputs and weights in each arithmetic, from a seed.
namespace tlm::checking {

/// How large what is drawn may be.
struct Limits {
  std::size_t vocab_size = 5;  ///< Tokens are drawn from {0, …, vocab_size − 1}.
  std::size_t rows = 6;        ///< Of a sequence, from 1 to 31: checks run through n = 1, …, rows.
};

/// A random number: of the prime field; from [−1, 1) in floating point; a constant among the sets of positions; a token.
template <class Real>
Real draw(Generator& generator, const Limits& limits = {}) {
  if constexpr (std::is_same_v<Real, PrimeField>)
    return PrimeField::random(generator);
  else if constexpr (std::is_same_v<Real, Positions>)
    return Positions(1);
  else if constexpr (std::is_floating_point_v<Real>)
    return Real(2 * generator.uniform() - 1);
  else
    return Real(generator.integer(0, int(limits.vocab_size) - 1));
}

/// Whether σ ≥ 0.1 for the row at x. Normalization amplifies rows that are almost constant, and their rounding errors, by
/// up to 1/ε: such rows are left to the exact arithmetics.
template <class Real>
bool varied(const Real* x, std::size_t cols) {
  if constexpr (std::is_floating_point_v<Real>) {
    if (cols == 1) return true;
    Real sum(0), squares(0);
    for (std::size_t j = 0; j < cols; ++j) sum += x[j], squares += x[j] * x[j];
    return squares / Real(cols) - sum * sum / Real(cols * cols) >= Real(0.01);
  } else {
    return true;
  }
}

/// A random matrix with these sequences; in floating point, of two columns or more, with σ ≥ 0.1 in each of its rows.
template <class M>
M draw_matrix(const Sequences& sequences, Generator& generator, const Limits& limits = {}) {
  M X{sequences};
  for (std::size_t i = 0; i < X.rows(); ++i) {
    do
      for (std::size_t j = 0; j < M::cols; ++j) X(i, j) = draw<typename M::Real>(generator, limits);
    while (!varied(&X(i, 0), M::cols));
  }
  return X;
}

/// Whether an input is a pair of a source and a target.
template <class Domain>
concept Pair = requires(Domain X) {
  X.x;
  X.y;
};

/// Of a pair the target, of any other input all: what is cut, extended and seen by rows.
template <class Domain>
auto& target(Domain& X) {
  if constexpr (Pair<Domain>)
    return X.y;
  else
    return X;
}
/// The type of the target.
template <class Domain>
using Target = std::remove_cvref_t<decltype(target(std::declval<Domain&>()))>;

/// The same source, if there is one, with another target.
template <class Domain>
Domain with_target(const Domain& X, Target<Domain> rows) {
  if constexpr (Pair<Domain>)
    return {X.x, std::move(rows)};
  else
    return rows;
}

/// Whether a layer's target is made of tokens, which are no real numbers: they carry no tags and have no derivatives.
template <class Layer>
inline constexpr bool reads_tokens = std::is_integral_v<typename Target<typename Layer::domain>::Real>;

/// What a layer or model takes: a matrix, or for an encoder–decoder a source and a target. The sources are as long as the
/// targets in reverse order, and one row longer.
template <class Domain>
Domain draw_input(const Sequences& sequences, Generator& generator, const Limits& limits = {}) {
  if constexpr (Pair<Domain>) {
    using Source = decltype(Domain::x);
    std::vector<std::size_t> lengths;
    for (std::size_t s = sequences.count(); s-- > 0;) lengths.push_back(sequences.length(s) + 1);
    Source x = draw_matrix<Source>(Sequences::of_lengths(lengths), generator, limits);
    return {std::move(x), draw_matrix<Target<Domain>>(sequences, generator, limits)};
  } else {
    return draw_matrix<Domain>(sequences, generator, limits);
  }
}

/// Inputs one under the other; of pairs, their sources and their targets.
template <class Domain>
Domain stacked(const std::vector<Domain>& parts) {
  if constexpr (Pair<Domain>) {
    std::vector<decltype(Domain::x)> x;
    std::vector<decltype(Domain::y)> y;
    for (const auto& part : parts) x.push_back(part.x), y.push_back(part.y);
    return {stack(x), stack(y)};
  } else {
    return stack(parts);
  }
}

/// The numbers of a weight, and its path.
template <class Real>
struct NamedWeight : Parameter<Real> {
  std::string path;
};

/// The weights of a layer in their order. (A vector, so that what the checks do with it is compiled once for all layers.)
template <class Layer>
auto named_weights(Layer& layer) {
  std::vector<std::string> paths;
  std::vector<NamedWeight<typename Layer::codomain::Real>> weights;
  for (const auto& weight : parameters(layer, &paths)) weights.push_back({weight, {}});
  for (std::size_t k = 0; k < weights.size(); ++k) weights[k].path = std::move(paths[k]);
  return weights;
}

/// Throws std::invalid_argument unless X̄ has the rows of X, where it has rows at all.
template <class Domain, class Derivative>
void require_rows_of(const Domain& X, const Derivative& X_bar) {
  if constexpr (Pair<Domain> && Pair<Derivative>) {
    require_rows_of(X.x, X_bar.x);
    require_rows_of(X.y, X_bar.y);
  } else if constexpr (requires { X_bar.sequences(); }) {
    require_same_sequences("X", X.sequences(), "the X̄ that the pullback returns", X_bar.sequences());
  }
}

/// X̄ = pullback(Ȳ, gradient), of what value_and_pullback(X) returned. Throws like require_rows_of: what looks at X and X̄ side
/// by side would read past the end of one.
template <class Result, class Layer, class Domain>
auto pulled_back(const Result& result, const typename Layer::codomain& Y_bar, Layer& gradient, const Domain& X) {
  auto X_bar = result.pullback(Y_bar, gradient);
  require_rows_of(X, X_bar);
  return X_bar;
}

/// While it lives, entries that nobody has set are NaN: who reads them is seen.
class UnsetEntries {
 public:
  UnsetEntries() { unset_is_nan = true; }
  UnsetEntries(UnsetEntries&&) = delete;
  ~UnsetEntries() { unset_is_nan = false; }
};

/// A number of the prime field of which is known how many there are.
struct Held : PrimeField {
  using PrimeField::PrimeField;
  Held() = default;
  Held(PrimeField number) : PrimeField{number} {}

  struct Counted {
    Counted() { ++count; }
    Counted(const Counted&) : Counted{} {}
    Counted& operator=(const Counted&) = default;
    ~Counted() { --count; }

    inline static std::size_t count = 0;
  } counted{};
};

/// A layer with random weights.
template <class Layer>
Layer draw_layer(Generator& generator) {
  Layer layer;
  for (const auto& weight : parameters(layer))
    for (auto& w : weight) w = draw<typename Layer::codomain::Real>(generator);
  return layer;
}

/// X with the tag of its row on every entry, counted from the first row of these sequences; of a pair the target, with one
/// row of a source for each sequence, whose numbers are constants.
template <class Domain>
Domain tagged(const Sequences& sequences) {
  Domain X;
  if constexpr (Pair<Domain>)
    X.x = decltype(X.x){Sequences::of_lengths(std::vector<std::size_t>(sequences.count(), 1)), Positions(1)};
  target(X) = Target<Domain>{sequences};
  for (std::size_t i = 0; i < target(X).rows(); ++i)
    for (std::size_t j = 0; j < Target<Domain>::cols; ++j) target(X)(i, j) = Positions::position(i);
  return X;
}

/// Runs `check(generator)`; where a denominator of the field was 0, again with the next numbers. Throws
/// std::runtime_error if that does not help: then it is 0 whatever the numbers are.
template <class Check>
auto redrawing(std::uint64_t seed, const Check& check) {
  Generator generator{seed};
  for (int draws = 0; draws < 100; ++draws) try {
      return check(generator);
    } catch (const ZeroDenominator&) {
    }
  refuse<std::runtime_error>({"a denominator is 0, whatever numbers are drawn"});
}

/// Rows first, …, first + count − 1 of X, as a sequence of their own.
template <class M>
M rows_from(const M& X, std::size_t first, std::size_t count) {
  M part{Sequences{count}};
  std::copy_n(X.data() + first * M::cols, count * M::cols, part.data());
  return part;
}

}  // namespace tlm::checking
