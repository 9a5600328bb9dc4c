// SPDX-License-Identifier: MIT
// A layer of your own that remembers, to copy: it is autoregressive, and has a weight and a state. It is checked in all
// the ways in which the library's layers are, composed into a model, and trained. (tutorial.cpp has a rowwise one.)

#include <cstddef>
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <tlm/checking/check.hpp>
#include <tlm/tlm.hpp>

namespace {

using tlm::n;

/// EA(X)_i = r ⊙ EA(X)_{i−1} + (1 − r) ⊙ X_i, where EA(X)_0 = 0: an exponential average of the rows so far. Each column
/// has its own rate, a weight in r. Autoregressive: row i is made of the rows 1, …, i.
template <std::size_t d_model, class Real = float>
struct ExponentialAverage {
  using declared = tlm::is::Autoregressive;
  using domain = tlm::Matrix<n, d_model, Real>;
  using codomain = domain;
  static constexpr std::string_view symbol = "EA";

  tlm::Row<d_model, Real> r;

  codomain operator()(const domain& X) const {
    State no_rows{};
    return extend(no_rows, X);
  }

  /// Write t_i = ∂L/∂EA(X)_i, through row i itself and through those that follow it: t_i = Ȳ_i + r ⊙ t_{i+1}. Then
  ///
  ///   X̄_i = (1 − r) ⊙ t_i,   r̄ = Σ_i t_i ⊙ (EA(X)_{i−1} − X_i).
  auto value_and_pullback(domain X) const& {
    codomain Y = (*this)(X);
    return tlm::with_pullback(Y, [this, Y, X = std::move(X)](codomain Y_bar, ExponentialAverage& gradient) {
      const auto& sequences = X.sequences();
      for (std::size_t s = 0; s < sequences.count(); ++s)
        for (std::size_t i = sequences.end(s); i-- > sequences.begin(s);)
          for (std::size_t j = 0; j < d_model; ++j) {
            const Real t = Y_bar(i, j);
            const bool first = i == sequences.begin(s);
            if (!first) Y_bar(i - 1, j) += r(0, j) * t;
            gradient.r(0, j) += t * ((first ? Real(0) : Y(i - 1, j)) - X(i, j));
            Y_bar(i, j) = (Real(1) - r(0, j)) * t;
          }
      return Y_bar;
    });
  }
  auto value_and_pullback(domain) const&& { return tlm::refuse_temporary<ExponentialAverage>(); }

  /// The last row of every sequence; no rows before the first.
  struct State {
    domain last;
  };

  /// The rows that follow. There are as many sequences as before: tlm::advance refuses anything else.
  codomain extend(State& state, domain X) const {
    const auto& sequences = X.sequences();
    if (state.last.sequences().count() == 0)
      state.last = domain{tlm::Sequences::of_lengths(std::vector<std::size_t>(sequences.count(), 1))};
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i)
        for (std::size_t j = 0; j < d_model; ++j)
          X(i, j) = state.last(s, j) = r(0, j) * state.last(s, j) + (Real(1) - r(0, j)) * X(i, j);
    return X;
  }

  static constexpr void weights(auto&& visit, auto& layer) { visit("r", layer.r); }
};

// The layer that is checked is small, and a template over its numbers.
template <class Real>
using SmallEA = ExponentialAverage<6, Real>;

/// Φ ∘ N ∘ Res(FF) ∘ Res(CA ∘ N_ca) ∘ Res(EA) ∘ PE ∘ Em
template <std::size_t vocab_size, std::size_t max_len, std::size_t d>
struct OwnModel
    : tlm::Composition<tlm::FinalLayer<d, vocab_size>, tlm::Normalization<"N", d>, tlm::Res<tlm::FeedForward<d, 2 * d>>,
                       tlm::Res<tlm::Composition<tlm::CausalAttention<d, 2>, tlm::Normalization<"N_ca", d>>>,
                       tlm::Res<ExponentialAverage<d>>, tlm::PositionalEncoding<max_len, d>,
                       tlm::Embedding<vocab_size, d>> {};

}  // namespace

int main() {
  const tlm::Report report = tlm::check<SmallEA>("EA");
  std::cout << report << '\n';
  if (!report.holds()) return 1;

  const tlm::Reversal task{4, 2, 3};  // to reverse 2 to 3 of 4 tokens
  using Model = OwnModel<5, 9, 32>;
  static_assert(tlm::autoregressive<Model>);  // by the rules: every factor is
  auto model = std::make_unique<Model>();
  tlm::Generator generator{1};
  tlm::initialize_glorot(*model, generator);
  for (std::size_t j = 0; j < 32; ++j) tlm::weight<"EA.r"> (*model)(0, j) = 0.5f;  // Glorot's numbers are no rates
  tlm::Adam<Model> adam{0.003};
  tlm::train(
      *model, adam, [&] { return task.batch(16, generator); }, 2000,
      [](const tlm::Progress& progress) {
        if (progress.step % 500 == 0) std::cout << "step " << progress.step << ": loss " << progress.loss << '\n';
        return tlm::Continue::yes;
      });

  std::size_t right = 0, all = 0;
  for (const auto& tokens : task.all()) {
    const auto answer =
        tlm::decode(*model, tlm::Reversal::question(tokens), {task.separator, task.separator, task.max_len()});
    right += answer == tlm::Reversal::solved(tokens);
    ++all;
  }
  std::cout << right << " of " << all << " reversed\n" << std::flush;
  return std::cout ? 0 : 1;  // 1 if there was no room for what it prints
}
