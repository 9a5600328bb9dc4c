// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <type_traits>

#include <tlm/checking/check.hpp>

#include "../shapes.hpp"

/// X ↦ Concat(F(X), G(X), …).
namespace tlm::tests::in_concat {

namespace {

/// A name of its own for each of two attentions, so that their weights have paths of their own.
template <Symbol name, class F>
struct Named : F {
  static constexpr std::string_view symbol = name;
};

/// A rowwise layer, an attention and a positional encoding side by side: 4 + 6 + 6 columns.
using Three = Concat<Times<"W", d_model, 4, double>, CausalAttention<d_model, n_heads, double>,
                     PositionalEncoding<max_len, d_model, double>>;

/// The article's heads, written one by one: H_i(X) = softmax(◺(Q_i(X)×K_i(X)ᵀ/√d_head))×V_i(X).
template <Symbol name>
using Head = Named<name, proofs::OneHead<double>>;
using TwoHeads = Concat<Head<"H_1">, Head<"H_2">>;

/// Two embeddings of the same tokens.
using TwoEmbeddings =
    Concat<Named<"Em_1", Embedding<vocab_size, 4, double>>, Named<"Em_2", Embedding<vocab_size, 2, double>>>;

/// A positional encoding that takes down when it is asked.
std::string asked;
template <char name>
struct Asked : PositionalEncoding<max_len, 2, double> {
  using Base = PositionalEncoding<max_len, 2, double>;
  Base::codomain operator()(Base::domain X) const {
    Base::State no_rows{};
    return extend(no_rows, std::move(X));
  }
  Base::codomain extend(Base::State& state, Base::domain X) const {
    asked += name;
    return Base::extend(state, std::move(X));
  }
};

}  // namespace

static_assert(std::is_same_v<Three::codomain, Matrix<n, 16, double>>);
static_assert(detail::PathsAreUnique<TwoHeads>::value);

TEST_CASE("its rows are those of F(X), G(X), … side by side") {
  Generator generator{1};
  const auto layer = random_layer<Three>(generator);
  const auto X = random_rows<Three::domain>(unequal(), generator);
  CHECK(layer(X) == side_by_side(layer.f(X), side_by_side(layer.g.f(X), layer.g.g(X))));
}

TEST_CASE("F comes before G, with every compiler: so it is F that refuses first") {
  using Layers = Concat<Asked<'F'>, Asked<'G'>, Asked<'H'>>;
  const Layers layer;
  const Matrix<n, 2, double> X{1, 2};
  layer(X);
  State<Layers> state;
  advance(layer, state, X);
  CHECK(asked == "FGHFGH");
}

TEST_CASE("parts that take tokens: nothing goes back, and the weights have their gradients") {
  CHECK(!checking::gradient_fails(checking::OperationOf<TwoEmbeddings, checking::pullback_face>{"Concat"}, 1));
}

TEST_CASE("its weights are visited from left to right: so a seed draws them") {
  CHECK(not_drawn_in_this_order<Three>({"W", "CA.W_Q", "CA.W_K", "CA.W_V", "CA.W_O", "CA.B", "PE.PE"}) == "");
  CHECK(not_drawn_in_this_order<TwoHeads>({"H_1.W_Q", "H_1.W_K", "H_1.W_V", "H_2.W_Q", "H_2.W_K", "H_2.W_V"}) == "");
  // Control: the first that is drawn elsewhere is named.
  CHECK(not_drawn_in_this_order<Concat<Times<"A", 2, 3, double>, Times<"B", 2, 3, double>>>({"B", "A"}) == "B");
}

}  // namespace tlm::tests::in_concat
