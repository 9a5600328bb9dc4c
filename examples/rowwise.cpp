// SPDX-License-Identifier: MIT
// The two claims that the article is about, seen in numbers. A rowwise operation makes row i of its result from row i
// of X alone, and in the same way for every i; an autoregressive one makes it from the rows 1 to i. Here one entry of
// each row of X is changed in turn, and it is printed which rows of the result change.

#include <cstddef>
#include <iostream>

#include <tlm/layers/causal_attention.hpp>
#include <tlm/layers/feed_forward.hpp>
#include <tlm/training/initialization.hpp>

namespace {

using FF = tlm::FeedForward<4, 8>;
using CA = tlm::CausalAttention<4, 2>;
using Unmasked = tlm::MultiHead<4, 2, 2, 2, tlm::Unmasked>;  // d_model, n_heads, d_k, d_v and the mask

// The compiler derives the claims from the rules of tlm/algebra/rules.hpp. That no rule gives a claim does not refute it:
// the numbers do.
static_assert(tlm::rowwise<FF> && tlm::autoregressive<FF>);
static_assert(!tlm::rowwise<CA> && tlm::autoregressive<CA>);
static_assert(!tlm::rowwise<Unmasked> && !tlm::autoregressive<Unmasked>);

/// For each row i of T(X): the rows j of X that change it, by an entry that is 1 greater.
template <class T>
void show(const char* name) {
  constexpr std::size_t n_rows = 5;
  tlm::Generator generator{1};
  T layer;
  tlm::initialize_glorot(layer, generator);
  tlm::Matrix<tlm::n, 4> X{tlm::Sequences{n_rows}};
  for (auto& x : X.xtensor()) x = float(generator.uniform());

  std::cout << '\n'
            << name
            << (tlm::rowwise<T>          ? ": rowwise\n"
                : tlm::autoregressive<T> ? ": autoregressive\n"
                                         : ": no claim is derived\n");
  const auto Y = layer(X);
  for (std::size_t i = 0; i < n_rows; ++i) {
    std::cout << "  row " << i + 1 << " depends on row  ";
    for (std::size_t j = 0; j < n_rows; ++j) {
      auto changed = X;
      changed(j, 0) += 1.f;
      bool same = true;
      const auto Y_changed = layer(changed);
      for (std::size_t k = 0; k < 4; ++k) same = same && Y_changed(i, k) == Y(i, k);
      std::cout << (same ? " ·" : " ") << (same ? "" : std::to_string(j + 1));
    }
    std::cout << '\n';
  }
}

}  // namespace

int main() {
  show<FF>("FF(X), feed forward");
  show<CA>("CA(X), causal attention");
  show<Unmasked>("MultiHead(X), attention without the mask");
  std::cout << std::flush;
  return std::cout ? 0 : 1;  // 1 if there was no room for what it prints
}
