// SPDX-License-Identifier: MIT
// The program at the end of the book's tutorial: your own layer, checked, composed into a model, trained, kept and
// used.

// [includes]
#include <exception>
#include <iostream>
#include <string_view>
#include <utility>

#include <tlm/checking/check.hpp>
#include <tlm/storage/safetensors.hpp>
#include <tlm/tlm.hpp>
// [/includes]

// [layer]
/// Scale(X)_i = s ⊙ X_i, column by column, with a weight s for each column. Rowwise.
template <tlm::Symbol name, std::size_t d, class Real = float>
struct Scale {
  using declared = tlm::is::Rowwise;
  using domain = tlm::Matrix<tlm::n, d, Real>;
  using codomain = domain;
  static constexpr std::string_view symbol = name;

  tlm::Row<d, Real> s;

  codomain operator()(domain X) const {
    for (std::size_t i = 0; i < X.rows(); ++i)
      for (std::size_t j = 0; j < d; ++j) X(i, j) *= s(0, j);
    return X;
  }
  // [/layer]

  // [pullback]
  /// dY_i = ds ⊙ X_i + s ⊙ dX_i, hence s̄ = Σ_i Ȳ_i ⊙ X_i and X̄_i = s ⊙ Ȳ_i.
  auto value_and_pullback(domain X) const& {
    codomain Y = (*this)(X);
    return tlm::with_pullback(std::move(Y), [this, X = std::move(X)](codomain Y_bar, Scale& gradient) {
      for (std::size_t i = 0; i < X.rows(); ++i)
        for (std::size_t j = 0; j < d; ++j) {
          gradient.s(0, j) += Y_bar(i, j) * X(i, j);
          Y_bar(i, j) *= s(0, j);
        }
      return Y_bar;
    });
  }
  auto value_and_pullback(domain) const&& { return tlm::refuse_temporary<Scale>(); }

  static constexpr void weights(auto&& visit, auto& layer) { visit(tlm::Name{"s", tlm::Role::factor}, layer.s); }
};
// [/pullback]

// [check]
template <class Real>
using SmallScale = Scale<"Scale", 5, Real>;
// [/check]

// [model]
/// A decoder block whose residuals are scaled: Res(S_ff ∘ FF) ∘ Res(S_ca ∘ CA ∘ N_ca).
template <std::size_t d>
struct ScaledBlock
    : tlm::Composition<
          tlm::Res<tlm::Composition<Scale<"S_ff", d>, tlm::FeedForward<d, 2 * d>>>,
          tlm::Res<tlm::Composition<Scale<"S_ca", d>, tlm::CausalAttention<d, 2>, tlm::Normalization<"N_ca", d>>>> {
  static constexpr std::string_view symbol = "DB";
};

/// Φ ∘ N ∘ DB_2 ∘ DB_1 ∘ PE ∘ Em, for 11 tokens and sequences of up to 7.
struct Mine : tlm::Composition<tlm::FinalLayer<32, 11>, tlm::Normalization<"N", 32>, tlm::Stack<ScaledBlock<32>, 2>,
                               tlm::PositionalEncoding<7, 32>, tlm::Embedding<11, 32>> {
  static constexpr std::string_view symbol = "Mine";
};
static_assert(tlm::autoregressive<Mine>);
// [/model]

// [main]
int main() try {
  const tlm::Report report = tlm::check<SmallScale>("Scale");
  std::cout << report << '\n';
  if (!report.holds()) return 1;

  tlm::Generator generator{1};
  Mine model;
  tlm::initialize_glorot(model, generator);
  const tlm::Reversal task{10, 2, 2};  // to reverse 2 of 10 tokens
  tlm::Adam<Mine> adam{0.003};
  tlm::train(
      model, adam, [&] { return task.batch(16, generator); }, 1500,
      [](tlm::Progress progress) {
        if (progress.step % 300 == 0) std::cout << "step " << progress.step << ": loss " << progress.loss << '\n';
        return tlm::Continue::yes;
      });
  tlm::storage::save_weights("mine.safetensors", model);

  Mine again;
  tlm::storage::load_weights("mine.safetensors", again);
  std::cout << "3 7 0  →  ";
  for (const tlm::Token token : tlm::decode(again, {3, 7, 0}, {.start = 0, .end = 0, .max_len = 7}))
    std::cout << token << ' ';
  std::cout << std::endl;
  return std::cout ? 0 : 1;  // 1 if there was no room for what it prints
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
// [/main]
