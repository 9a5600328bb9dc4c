// SPDX-License-Identifier: MIT
// Two layers of one's own, a model to copy: a rowwise one with weights and an autoregressive one that remembers. Each is
// checked in all the ways in which the library's layers are, then both are composed into a model, and it is trained.

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
using tlm::relu, tlm::relu_derivative;  // of float and double; other arithmetics bring their own

/// GF(X) = (ReLU(X×A) ⊙ X×B)×C: a feed forward whose inside is gated, entry by entry. Rowwise.
template <std::size_t d_model, std::size_t d_ff, class Real = float>
struct GatedFeedForward {
  using declared = tlm::is::Rowwise;
  using domain = tlm::Matrix<n, d_model, Real>;
  using codomain = domain;
  static constexpr std::string_view symbol = "GF";

  tlm::Matrix<d_model, d_ff, Real> A, B;
  tlm::Matrix<d_ff, d_model, Real> C;

  codomain operator()(const domain& X) const { return gated(X * A, X * B) * C; }

  /// With G = X×A, U = X×B, H = ReLU(G) ⊙ U and Y = H×C:
  ///
  ///   H̄ = Ȳ×Cᵀ,  C̄ = Hᵀ×Ȳ;   Ū = ReLU(G) ⊙ H̄,  Ḡ = ReLU′(G) ⊙ U ⊙ H̄;
  ///   Ā = Xᵀ×Ḡ,  B̄ = Xᵀ×Ū,   X̄ = Ḡ×Aᵀ + Ū×Bᵀ.
  auto value_and_pullback(domain X) const& {
    auto G = X * A, U = X * B;
    auto H = gated(G, U);
    codomain Y = H * C;
    return tlm::with_pullback(std::move(Y), [this, X = std::move(X), G = std::move(G), U = std::move(U),
                                             H = std::move(H)](const codomain& Y_bar, GatedFeedForward& gradient) {
      accumulate(gradient.C, transposed(H), Y_bar);
      auto G_bar = Y_bar * transposed(C), U_bar = G_bar;  // both begin as H̄
      for (std::size_t e = 0; e < X.rows() * d_ff; ++e) {
        G_bar.data()[e] *= relu_derivative(G.data()[e]) * U.data()[e];
        U_bar.data()[e] *= relu(G.data()[e]);
      }
      accumulate(gradient.A, transposed(X), G_bar);
      accumulate(gradient.B, transposed(X), U_bar);
      return G_bar * transposed(A) + U_bar * transposed(B);
    });
  }
  auto value_and_pullback(domain) const&& { return tlm::refuse_temporary<GatedFeedForward>(); }

  static constexpr void weights(auto&& visit, auto&... layer) {
    visit(tlm::Name{"A"}, layer.A...);
    visit(tlm::Name{"B"}, layer.B...);
    visit(tlm::Name{"C"}, layer.C...);
  }

 private:
  using Inside = tlm::Matrix<n, d_ff, Real>;
  /// ReLU(G) ⊙ U
  static Inside gated(Inside G, const Inside& U) {
    for (std::size_t e = 0; e < G.rows() * d_ff; ++e) G.data()[e] = relu(G.data()[e]) * U.data()[e];
    return G;
  }
};

/// EA(X)_i = r ⊙ EA(X)_{i−1} + (1 − r) ⊙ X_i, where EA(X)_0 = 0: an exponential average of the rows so far, whose rate r of
/// each column is a weight. Autoregressive: row i is made of the rows 1, …, i.
template <std::size_t d_model, class Real = float>
struct ExponentialAverage {
  using declared = tlm::is::Autoregressive;
  using domain = tlm::Matrix<n, d_model, Real>;
  using codomain = domain;
  static constexpr std::string_view symbol = "EA";

  tlm::Row<d_model, Real> r;

  codomain operator()(const domain& X) const { return tlm::from_the_beginning(*this, X); }

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

  /// The rows that follow, of as many sequences as before: tlm::extend refuses others.
  codomain extend(State& state, domain X) const {
    const auto& sequences = X.sequences();
    if (state.last.sequences().count() == 0)
      state.last = domain{tlm::Sequences::of_lengths(std::vector<std::size_t>(sequences.count(), 1)), Real(0)};
    for (std::size_t s = 0; s < sequences.count(); ++s)
      for (std::size_t i = sequences.begin(s); i < sequences.end(s); ++i)
        for (std::size_t j = 0; j < d_model; ++j)
          X(i, j) = state.last(s, j) = r(0, j) * state.last(s, j) + (Real(1) - r(0, j)) * X(i, j);
    return X;
  }

  static constexpr void weights(auto&& visit, auto&... layer) { visit(tlm::Name{"r"}, layer.r...); }
};

// What is checked is small, and over any arithmetic: a template over the numbers.
template <class Real>
using SmallGF = GatedFeedForward<6, 7, Real>;
template <class Real>
using SmallEA = ExponentialAverage<6, Real>;

/// Φ ∘ N ∘ Res(GF ∘ N_gf) ∘ Res(CA ∘ N_ca) ∘ Res(EA) ∘ PE ∘ Em
template <std::size_t vocab_size, std::size_t max_len, std::size_t d, class Real = float>
struct OwnModel : tlm::Composition<
                      tlm::FinalLayer<d, vocab_size, Real>, tlm::Normalization<"N", d, Real>,
                      tlm::Res<tlm::Composition<GatedFeedForward<d, 2 * d, Real>, tlm::Normalization<"N_gf", d, Real>>>,
                      tlm::Res<tlm::Composition<tlm::CausalAttention<d, 2, Real>, tlm::Normalization<"N_ca", d, Real>>>,
                      tlm::Res<ExponentialAverage<d, Real>>, tlm::PositionalEncoding<max_len, d, Real>,
                      tlm::Embedding<vocab_size, d, Real>> {};

}  // namespace

int main() {
  for (const tlm::Report& report : {tlm::check<SmallGF>("GF"), tlm::check<SmallEA>("EA")}) {
    std::cout << report << '\n';
    if (!report.holds()) return 1;
  }

  const tlm::Reversal task{4, 2, 3};  // to reverse 2 to 3 of 4 tokens
  using Model = OwnModel<5, 9, 32>;
  static_assert(tlm::autoregressive<Model>);  // by the rules: every factor is
  auto model = std::make_unique<Model>();
  tlm::Generator generator{1};
  tlm::initialize_glorot(*model, generator);
  for (std::size_t j = 0; j < 32; ++j) tlm::weight<"EA.r"> (*model)(0, j) = 0.5f;
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
