// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlm/matrix/matrix.hpp>

/// Inputs and results without their types: stacks of rows with any number of columns.
namespace tlm::checking {

/// True if an input is a pair of a source and a target.
template <class Domain>
concept Pair = requires(Domain X) {
  X.x;
  X.y;
};

/// The columns of a matrix, of numbers or of tokens; no columns if there is no matrix.
struct Shape {
  std::size_t cols = 0;
  bool of_tokens = false;
};
/// The shape of matrices of this type. Of a pair it is that of the target: its rows are cut, extended and looked at.
template <class M>
constexpr Shape shape_of() {
  if constexpr (Pair<M>) return shape_of<decltype(M::y)>();
  if constexpr (requires { M::cols; }) return {M::cols, std::is_integral_v<typename M::Real>};
  return {};
}

/// True if a layer's target consists of tokens. Tokens are not real numbers: they carry no tags and have no
/// derivatives.
template <class Layer>
inline constexpr bool reads_tokens = shape_of<typename Layer::domain>().of_tokens;

/// A stack of sequences of rows, with any number of columns. It holds `tokens` or `numbers`.
template <class Real>
struct Stacked {
  Sequences sequences{};
  std::size_t cols = 0;
  std::vector<Real> numbers{};
  std::vector<Token> tokens{};

  Stacked() = default;
  /// 0 everywhere.
  Stacked(const Sequences& of, Shape shape) : sequences{of}, cols{shape.cols} {
    if (shape.of_tokens)
      tokens.resize(of.rows());
    else
      numbers.assign(of.rows() * cols, Real(0));
  }
  /// The entries of a matrix. Nothing has no entries.
  template <class M>
  explicit Stacked(const M& X) {
    if constexpr (shape_of<M>().cols > 0) {
      cols = M::cols;
      sequences = Sequences{X.rows()};
      if constexpr (requires { X.sequences(); }) sequences = X.sequences();
      if constexpr (shape_of<M>().of_tokens)
        tokens.assign(X.data(), X.data() + X.rows());
      else
        numbers.assign(X.data(), X.data() + X.rows() * cols);
    }
  }
  /// A matrix with these entries.
  template <class M>
  M as() const {
    if constexpr (shape_of<M>().of_tokens)
      return M(sequences, tokens);
    else
      return M(sequences, numbers);
  }

  /// Others in the same places: the same tokens, and the same numbers in floating point; other numbers are 0.
  template <class Other>
  Stacked<Other> like() const {
    Stacked<Other> X{sequences, {cols, !tokens.empty()}};
    X.tokens = tokens;
    if constexpr (std::is_floating_point_v<Other>) std::copy(numbers.begin(), numbers.end(), X.numbers.begin());
    return X;
  }

  Real& operator()(std::size_t i, std::size_t j) { return numbers[i * cols + j]; }
  const Real& operator()(std::size_t i, std::size_t j) const { return numbers[i * cols + j]; }

  /// The rows with these numbers, in these sequences.
  Stacked rows(const Sequences& of, const std::vector<std::size_t>& which) const {
    Stacked chosen{of, {cols, !tokens.empty()}};
    for (std::size_t i = 0; i < which.size(); ++i)
      if (tokens.empty())
        std::copy_n(numbers.begin() + std::ptrdiff_t(which[i] * cols), cols,
                    chosen.numbers.begin() + std::ptrdiff_t(i * cols));
      else
        chosen.tokens[i] = tokens[which[i]];
    return chosen;
  }
  /// Rows first, …, first + count − 1, as one sequence.
  Stacked rows(std::size_t first, std::size_t count) const {
    std::vector<std::size_t> which(count);
    for (std::size_t i = 0; i < count; ++i) which[i] = first + i;
    return rows(Sequences{count}, which);
  }
  /// Sequence s.
  Stacked sequence(std::size_t s) const { return rows(sequences.begin(s), sequences.length(s)); }
};

/// What a layer takes: the rows of its domain, or a source and a target.
template <class Real>
struct Input {
  Stacked<Real> source{}, target{};

  /// With another target.
  Input with(Stacked<Real> rows) const { return {source, std::move(rows)}; }
  /// Sequence s.
  Input sequence(std::size_t s) const { return {source.cols == 0 ? source : source.sequence(s), target.sequence(s)}; }
};

/// As a layer takes it.
template <class Domain, class Real>
Domain as(const Input<Real>& X) {
  if constexpr (Pair<Domain>)
    return {X.source.template as<decltype(Domain::x)>(), X.target.template as<decltype(Domain::y)>()};
  else
    return X.target.template as<Domain>();
}
/// What a layer takes, or its pullback returns.
template <class Real, class Domain>
Input<Real> input(const Domain& X) {
  if constexpr (Pair<Domain>)
    return {Stacked<Real>{X.x}, Stacked<Real>{X.y}};
  else
    return {{}, Stacked<Real>{X}};
}

}  // namespace tlm::checking
