// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <tlm/algebra/parameters.hpp>
#include <tlm/base/generator.hpp>
#include <tlm/base/refuse.hpp>
#include <tlm/checking/dependencies.hpp>
#include <tlm/checking/operation.hpp>
#include <tlm/checking/prime_field.hpp>

/// Random inputs and weights in each arithmetic, from a seed.
namespace tlm::checking {

/// The limits of what is drawn.
struct Limits {
  std::size_t vocab_size = 5;  ///< Tokens are drawn from {0, …, vocab_size − 1}.
  std::size_t rows = 6;        ///< The most rows of a sequence, from 1 to 31: checks run through n = 1, …, rows.
};

/// Which floating-point numbers are drawn: any, or special ones. Special ones have zeros, rows of zeros, equal rows and
/// equal neighbours among them.
enum class Draw { any, special };

/// A random number: an element of the prime field, a floating-point number from [−1, 1), a constant among the sets of
/// positions, or a token.
template <class Real>
Real draw(Generator& generator, const Limits& limits = {}) {
  if constexpr (std::is_same_v<Real, PrimeField>) return PrimeField::random(generator);
  if constexpr (std::is_same_v<Real, Dependencies>) return Dependencies(1);
  if constexpr (std::is_floating_point_v<Real>) return Real(2 * generator.uniform() - 1);
  return Real(generator.integer(0, int(limits.vocab_size) - 1));
}

/// True if σ ≥ 0.1 for the row at x, or it has one column. Normalization amplifies almost constant rows, and their
/// rounding errors, by up to 1/ε. Such rows are left to the exact arithmetics.
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

/// A random row that is varied. A special one has zeros and equal neighbours.
template <class Real>
void draw_row(Real* x, std::size_t cols, Generator& generator, Draw kind) {
  do
    for (std::size_t j = 0; j < cols; ++j) {
      x[j] = draw<Real>(generator);
      if (kind == Draw::any) continue;
      const int chosen = generator.integer(0, 3);
      if (chosen == 0) x[j] = Real(0);
      if (chosen == 1 && j > 0) x[j] = x[j - 1];
    }
  while (!varied(x, cols));
}

/// Random rows of this shape. If they are special, a quarter is 0, and a quarter repeats the row above.
template <class Real>
Stacked<Real> draw_rows(Shape shape, const Sequences& sequences, Generator& generator, const Limits& limits = {},
                        Draw kind = Draw::any) {
  Stacked<Real> X{sequences, shape};
  for (Token& token : X.tokens) token = draw<Token>(generator, limits);
  if (!shape.of_tokens)
    for (std::size_t i = 0; i < sequences.rows(); ++i) {
      Real* const x = &X(i, 0);
      const int chosen = kind == Draw::any ? 2 : generator.integer(0, 3);
      if (chosen >= 2) draw_row(x, shape.cols, generator, kind);
      if (chosen == 1 && i > 0) std::copy_n(x - shape.cols, shape.cols, x);
    }
  return X;
}

/// A random matrix with these sequences.
template <class M>
M draw_matrix(const Sequences& sequences, Generator& generator, const Limits& limits = {}) {
  return draw_rows<typename M::Real>(shape_of<M>(), sequences, generator, limits).template as<M>();
}

/// Every entry has the tag of its row, counted from the first row of these sequences.
inline Stacked<Dependencies> tagged(const Sequences& sequences, std::size_t cols) {
  Stacked<Dependencies> X{sequences, {cols}};
  for (std::size_t i = 0; i < sequences.rows(); ++i) std::fill_n(&X(i, 0), cols, Dependencies::position(i));
  return X;
}
/// What an operation takes. Sources are as long as the targets in reverse order, and one row longer. Over sets of positions
/// the rows of the target are tagged. In a stack the rows of a source, but no tokens, have a tag of their sequence.
template <class Real>
Input<Real> draw_input(const Operation<Real>& T, const Sequences& sequences, Generator& generator,
                       const Limits& limits = {}, Draw kind = Draw::any) {
  Input<Real> X;
  if (T.source.cols > 0) {
    std::vector<std::size_t> lengths;
    for (std::size_t s = sequences.count(); s-- > 0;) lengths.push_back(sequences.length(s) + 1);
    X.source = draw_rows<Real>(T.source, Sequences::of_lengths(lengths), generator, limits, kind);
  }
  X.target = draw_rows<Real>(T.target, sequences, generator, limits, kind);
  if constexpr (std::is_same_v<Real, Dependencies>) {
    X.target = tagged(sequences, T.target.cols);
    const Sequences& sources = X.source.sequences;
    for (std::size_t s = 0; s < sources.count() && sources.count() > 1 && !T.source.of_tokens; ++s)
      std::fill_n(&X.source(sources.begin(s), 0), sources.length(s) * X.source.cols,
                  Dependencies::codomain_position(s));
  }
  return X;
}

/// A layer with random weights. If they are special, a quarter is 0.
template <class Real>
std::unique_ptr<Operation<Real>> drawn(const Operation<Real>& T, Generator& generator, Draw kind = Draw::any) {
  auto layer = T.another();
  for (const auto& weight : layer->weights())
    for (Real& w : weight) {
      w = draw<Real>(generator);
      if (kind == Draw::special && generator.integer(0, 3) == 0) w = Real(0);
    }
  return layer;
}

/// A layer with random weights.
template <class Layer>
Layer draw_layer(Generator& generator) {
  Layer layer;
  for (const auto& weight : parameters(layer))
    for (auto& w : weight) w = draw<typename Layer::codomain::Real>(generator);
  return layer;
}

/// Runs `check(generator)`, and again with the next numbers if a denominator of the field was 0. Throws
/// std::runtime_error if that does not help: then it is 0 for all numbers.
template <class Check>
auto redrawing(std::uint64_t seed, const Check& check) {
  Generator generator{seed};
  for (int draws = 0; draws < 100; ++draws) try {
      return check(generator);
    } catch (const ZeroDenominator&) {
    }
  refuse<std::runtime_error>({"a denominator is 0, whatever numbers are drawn"});
}

}  // namespace tlm::checking
