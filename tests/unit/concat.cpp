// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <type_traits>

#include <tlm/checking/check.hpp>

#include "../layers.hpp"

/// X ↦ Concat(F(X), G(X), …).
namespace tlm::tests::in_concat {

namespace {

/// A name of its own for each of two attentions, so that their weights have paths of their own.
template <Symbol name, class F>
struct Named : F {
  static constexpr std::string_view symbol = name;
};

/// A rowwise layer, an attention and a positional encoding side by side: 4 + 6 + 6 columns.
template <class Real>
using Three = Concat<Times<"W", d_model, 4, Real>, CausalAttention<d_model, n_heads, Real>,
                     PositionalEncoding<max_len, d_model, Real>>;

/// The article's heads, written one by one: H_i(X) = softmax(◺(Q_i(X)×K_i(X)ᵀ/√d_head))×V_i(X).
template <Symbol name, class Real>
using OneHead =
    Named<name,
          LinearHeads<"W_Q", "W_K", "W_V", d_model, 1, d_model / n_heads, d_model / n_heads, Causal, FromItself, Real>>;
template <class Real>
using TwoHeads = Concat<OneHead<"H_1", Real>, OneHead<"H_2", Real>>;

/// Two embeddings of the same tokens.
template <class Real>
using TwoEmbeddings =
    Concat<Named<"Em_1", Embedding<vocab_size, 4, Real>>, Named<"Em_2", Embedding<vocab_size, 2, Real>>>;

using Domain = Matrix<n, d_model, double>;

/// A positional encoding that takes down when it is asked.
std::string asked;
template <char name>
struct Asked : PositionalEncoding<max_len, 2, double> {
  using Base = PositionalEncoding<max_len, 2, double>;
  Base::codomain operator()(Base::domain X) const { return from_the_beginning(*this, std::move(X)); }
  Base::codomain extend(Base::State& state, Base::domain X) const {
    asked += name;
    return Base::extend(state, std::move(X));
  }
};

}  // namespace

static_assert(std::is_same_v<Three<double>::codomain, Matrix<n, 16, double>>);
static_assert(detail::PathsAreUnique<TwoHeads<double>>::value);

TEST_CASE("its rows are those of F(X), G(X), … side by side") {
  Generator generator{1};
  const auto layer = random_layer<Three<double>>(generator);
  const auto X = random_rows<Domain>(unequal(), generator);
  const auto Y = layer(X);
  CHECK(Y.sequences() == unequal());
  const auto w = weights_of(layer);
  for (std::size_t s = 0; s < unequal().count(); ++s) {
    CAPTURE(s);
    const auto X_s = table(sequence(X, s)), Y_s = table(sequence(Y, s));
    CHECK(distance(reference::columns(Y_s, 1, 4), reference::product(X_s, w.at("W"))) <= 1e-13);
    CHECK(distance(reference::columns(Y_s, 5, 6), reference::causal_attention(w, "CA.", n_heads, X_s)) <= 1e-13);
    CHECK(distance(reference::columns(Y_s, 11, 6), reference::positional_encoding(w.at("PE.PE"), X_s)) <= 1e-13);
  }
}

TEST_CASE("F comes before G, with every compiler: so it is F that refuses first") {
  using Layers = Concat<Asked<'F'>, Asked<'G'>, Asked<'H'>>;
  const Layers layer;
  const Matrix<n, 2, double> X{1, 2};
  layer(X);
  State<Layers> state;
  extend(layer, state, X);
  CHECK(asked == "FGHFGH");
}

TEST_CASE("parts that take tokens: nothing goes back, and the weights have their gradients") {
  const auto failure =
      checking::gradient_fails(checking::OperationOf<TwoEmbeddings<double>, checking::pullback_face>{"Concat"}, 1);
  CHECK(!failure);
}

TEST_CASE("its weights are visited from left to right: so a seed draws them") {
  CHECK(not_drawn_in_this_order<Three<double>>({"W", "CA.W_Q", "CA.W_K", "CA.W_V", "CA.W_O", "CA.B", "PE.PE"}) == "");
  CHECK(not_drawn_in_this_order<TwoHeads<double>>({"H_1.W_Q", "H_1.W_K", "H_1.W_V", "H_2.W_Q", "H_2.W_K", "H_2.W_V"}) ==
        "");
  // Control: the first that is drawn elsewhere is named.
  CHECK(not_drawn_in_this_order<Concat<Times<"A", 2, 3, double>, Times<"B", 2, 3, double>>>({"B", "A"}) == "B");
}

}  // namespace tlm::tests::in_concat
